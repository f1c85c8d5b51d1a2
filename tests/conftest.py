"""Every async test runs on asyncio and on trio, unless its file says why one will do; none touches the state of
whoever runs the tests.

Properties are shown by the same examples in every run; `make fuzz` sets DRAGOMAN_FUZZ, which is how many examples of
each there are, drawn anew.
"""

import os
from collections.abc import Iterator
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

SAME_EXAMPLES = settings(
    max_examples=50,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("test", SAME_EXAMPLES)
settings.register_profile(
    "fuzz",
    SAME_EXAMPLES,
    derandomize=False,
    max_examples=int(os.environ.get("DRAGOMAN_FUZZ", "100")),
    print_blob=True,
)
settings.load_profile("fuzz" if "DRAGOMAN_FUZZ" in os.environ else "test")


@pytest.fixture(autouse=True, scope="session")
def _state_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory(prefix="d-") as sockets:
        patch.setenv("XDG_RUNTIME_DIR", sockets)  # its path is short, as those of sockets must be
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        patch.setenv("DRAGOMAN_RECORD", "false")  # a run is kept where a test is about that
        yield


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    backend: str = request.param
    return backend
