"""A recording in place of an agent, for tests."""

from dragoman._agents.replay import Replayed


class ReplayAgent(Replayed):
    """Plays the agent of a recording (or of the frames.jsonl of a capture): give it in place of an agent's name.

    What the agent said is said again, in its order, at once or at `speed` times the speed that it had; what the client had
    said is waited for at its place. If the program sends something else, NotAsRecorded is raised where the session ends,
    with both lines. Ids that are ours, and the folder, may be others. What the agent has its client do with files and
    terminals is not done again: it is answered as it was.
    """

    @property
    def sent(self) -> list[str]:
        """The lines that the program has sent."""
        return [line.decode("utf-8", "replace") for playback in self._playbacks for line in playback.sent]

    @property
    def left(self) -> list[str]:
        """The lines that were recorded, and that the program had not sent when it ended the session."""
        return [line.decode("utf-8", "replace") for playback in self._playbacks for line in playback.left]
