"""The pinned agents, as in tests/real."""

from tests.real.conftest import actor, anyio_backend, tmp_path

__all__ = ["actor", "anyio_backend", "tmp_path"]
