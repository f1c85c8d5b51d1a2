"""What a policy says of a call: rules first, then the mode, then whoever can be asked."""

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman._model import toolnames
from dragoman._model.commands import Answer
from dragoman._model.config import APPROVE_MODES, Approve
from dragoman._model.events import PermissionOption, PermissionRequested, PermissionResolved, QuestionAsked
from dragoman._policy import rulebook
from dragoman._policy.policy import Policy, rule_like
from dragoman._policy.rulebook import Rulebook
from dragoman._policy.rules import Asked, Rule, matches
from dragoman._runtime.connection import Connection
from dragoman._runtime.session import Session
from dragoman._runtime.standing import Request
from tests.runtime.toy_dialect import MANY, alone, toy_plan


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own rules, which a test may change."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "dragoman" / "policy.toml"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def request(tool: str, /, blocked_path: str | None = None, **input: Any) -> PermissionRequested:
    return PermissionRequested(
        request_id="r1",
        tool_name=tool,
        kind=toolnames.kind_of(tool),
        input=input,
        blocked_path=blocked_path,
        agent="claude",
    )


def effects(policy: Policy, cwd: Path, *requests: PermissionRequested) -> list[str]:
    return [policy.verdict(Asked.of(asked, str(cwd))).effect for asked in requests]


LS = request("Bash", command="ls")
RM = request("Bash", command="rm x")
EDIT = request("Edit", file_path="a.py")
OUT = request("Edit", file_path="../a.py")
READ = request("Read", file_path="a.py")
FETCH = request("WebFetch", url="https://example.com")
MCP = request("mcp__db__drop")


class TestModes:
    @pytest.mark.parametrize(
        ("mode", "expected"),
        [
            ("ask", "ask ask ask ask ask ask ask"),
            ("dangerous", "allow ask allow ask allow ask ask"),
            ("edits", "ask ask allow ask ask ask ask"),
            ("all", "allow allow allow allow allow allow allow"),
            ("plan", "deny deny deny deny allow allow deny"),
            ("never", "deny deny deny deny deny deny deny"),
        ],
    )
    def test_what_a_mode_settles(self, mode: Approve, expected: str, work: Path) -> None:
        assert effects(Policy(mode), work, LS, RM, EDIT, OUT, READ, FETCH, MCP) == expected.split()

    @pytest.mark.parametrize("mode", ["edits", "plan"])
    def test_a_path_that_the_agent_calls_out_of_bounds_is_not_allowed_by_a_mode(
        self, mode: Approve, work: Path
    ) -> None:
        read = request("Read", file_path="/etc/hosts", blocked_path="/etc/hosts")
        edit = request("Edit", file_path="a.py", blocked_path="/etc")
        assert "allow" not in effects(Policy(mode), work, read, edit)

    def test_files_that_only_the_call_names_count_too(self, work: Path) -> None:
        patch = PermissionRequested(request_id="r1", tool_name="apply_patch", kind="edit", agent="codex")
        policy = Policy("edits")
        assert policy.settled(patch, str(work), [str(work / "a.py")]) is not None
        assert policy.settled(patch, str(work), [str(work / "a.py"), "/etc/hosts"]) is None

    @pytest.mark.parametrize("mode", ["plan", "never"])
    def test_a_denial_says_why(self, mode: Approve, work: Path) -> None:
        verdict = Policy(mode).verdict(Asked.of(RM, str(work)))
        assert verdict.rule == f"approve={mode}"
        assert f"approve={mode}" in (verdict.message or "")


class TestRules:
    @pytest.mark.parametrize("mode", [mode for mode in APPROVE_MODES if mode != "plan"])
    def test_rules_come_before_modes(self, mode: Approve, work: Path) -> None:
        book = Rulebook(
            (
                "mine",
                [
                    Rule(effect="deny", command="rm", message="keep it"),
                    Rule(effect="allow", tool="mcp*", name="n"),
                    Rule(effect="allow", server="db"),
                    Rule(effect="ask", tool="Edit"),
                ],
            )
        )
        policy = Policy(mode, book)
        assert effects(policy, work, RM, MCP, EDIT) == ["deny", "allow", "ask"]
        denied, allowed = (policy.verdict(Asked.of(asked, str(work))) for asked in (RM, MCP))
        assert (denied.rule, denied.message) == ("rule 1 (mine)", "keep it")
        assert (allowed.rule, allowed.message) == ("rule 3 (mine)", None)

    def test_no_rule_makes_plan_touch_anything(self, work: Path) -> None:
        policy = Policy("plan", Rulebook(("mine", [Rule(effect="allow"), Rule(effect="deny", tool="Read")])))
        assert effects(policy, work, RM, EDIT, MCP, READ) == ["deny", "deny", "deny", "allow"]

    def test_a_rule_can_forbid_looking_in_plan(self, work: Path) -> None:
        policy = Policy("plan", Rulebook(("mine", [Rule(effect="deny", tool="Read")])))
        assert effects(policy, work, READ) == ["deny"]

    def test_a_denial_without_a_message_names_its_rule(self, work: Path) -> None:
        policy = Policy("all", Rulebook(("mine", [Rule(effect="deny", name="no edits", kind="edit")])))
        verdict = policy.verdict(Asked.of(EDIT, str(work)))
        assert (verdict.rule, verdict.message) == ("no edits (mine)", "Denied by a rule: no edits (mine).")

    def test_the_rules_of_dangerous_come_after_all_others(self, work: Path) -> None:
        policy = Policy("dangerous", Rulebook(("mine", [Rule(effect="deny", command="ls")])))
        assert effects(policy, work, LS, request("Bash", command="pwd")) == ["deny", "allow"]
        verdict = policy.verdict(Asked.of(request("Bash", command="pwd"), str(work)))
        assert verdict.rule == "commands that only look (approve=dangerous)"


class TestSettled:
    def test_it_depends_on_where_the_session_works(self, tmp_path: Path) -> None:
        policy = Policy("ask", Rulebook(("mine", [Rule(effect="allow", path="inside")])))
        edit = request("Edit", file_path=str(tmp_path / "one" / "a.py"))
        decision = policy.settled(edit, str(tmp_path / "one"))
        assert decision is not None
        assert decision.response == Answer(request="r1", decision="allow")
        assert (decision.by, decision.rule) == ("policy", "rule 1 (mine)")
        assert policy.settled(edit, str(tmp_path / "two")) is None

    def test_a_relative_path_is_one_of_the_session(self, tmp_path: Path) -> None:
        policy = Policy("ask", Rulebook(("mine", [Rule(effect="allow", path=f"{tmp_path}/one/*")])))
        assert policy.settled(EDIT, str(tmp_path / "one")) is not None
        assert policy.settled(EDIT, str(tmp_path / "two")) is None

    def test_questions_are_for_people(self) -> None:
        assert Policy("all").settled(QuestionAsked(request_id="q1"), None) is None

    @pytest.mark.parametrize("path", ["a\0b", "a\ud83d", "~" * 5000, ""])
    def test_names_that_no_file_can_have(self, path: str, work: Path) -> None:
        rules = [Rule(effect="deny", path="secret"), Rule(effect="allow", path="src/**")]
        for asked in (request("Edit", file_path=path), request("Bash", command=f"cat {path}")):
            assert Policy("ask", Rulebook(("mine", rules))).settled(asked, str(work)) is None

    def test_what_codex_runs_is_what_its_shell_is_told(self, work: Path) -> None:
        wrapped = request("shell", command="/bin/bash -lc 'git status && ls'")
        assert effects(Policy("dangerous"), work, wrapped) == ["allow"]
        deny = Policy("all", Rulebook(("mine", [Rule(effect="deny", command="rm")])))
        assert effects(deny, work, request("shell", command="/bin/bash -lc 'ls; rm x'")) == ["deny"]

    def test_what_gemini_runs_is_its_title(self, work: Path) -> None:
        asked = PermissionRequested(
            request_id="r1", tool_name="run_shell_command", kind="execute", title="git status"
        )
        assert effects(Policy("dangerous"), work, asked) == ["allow"]
        asked.title = "git push"
        assert effects(Policy("dangerous"), work, asked) == ["ask"]


class TestRemember:
    def answer(self, *remember: Any, **fields: Any) -> Answer:
        return Answer(request="r1", **{"decision": "allow", "remember": list(remember), **fields})

    def test_once_is_not_remembered(self, work: Path, config: Path) -> None:
        policy = Policy()
        policy.remember(RM, self.answer({"type": "setMode"}), str(work))
        assert policy.settled(RM, str(work)) is None
        assert not config.exists()

    def test_for_the_session(self, work: Path, config: Path) -> None:
        policy = Policy()
        policy.remember(RM, self.answer("session"), str(work))
        decision = policy.settled(RM, str(work))
        assert decision is not None
        assert decision.rule == "rule 1 (this session)"
        assert policy.settled(request("Bash", command="rm x y"), str(work)) is None
        assert Policy("ask", rulebook.load(str(work))).settled(RM, str(work)) is None
        assert not config.exists()

    def test_always_is_written_to_the_users_own_file_and_nowhere_else(
        self, work: Path, config: Path, tmp_path: Path
    ) -> None:
        policy = Policy()
        policy.remember(RM, self.answer("always"), str(work))
        policy.remember(EDIT, self.answer("always", decision="deny"), str(work))
        assert policy.settled(RM, str(work)) is not None
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == [config]
        later = Policy("ask", rulebook.load(str(work)))
        assert effects(later, work, RM, EDIT, LS) == ["allow", "deny", "ask"]
        assert effects(later, tmp_path, EDIT) == ["ask"]

    def test_a_denial_for_the_session(self, work: Path) -> None:
        policy = Policy("all")
        policy.remember(RM, self.answer("session", decision="deny"), str(work))
        assert effects(policy, work, RM, LS) == ["deny", "allow"]

    @pytest.mark.parametrize(("option", "effect"), [("yes", "allow"), ("no", "deny")])
    def test_the_option_that_was_chosen_decides(self, option: str, effect: str, work: Path) -> None:
        asked = request("Bash", command="make")
        asked.options = [
            PermissionOption(id="yes", kind="allow_once"),
            PermissionOption(id="no", kind="reject_once"),
        ]
        policy = Policy()
        policy.remember(asked, Answer(request="r1", option=option, remember=["session"]), str(work))
        assert effects(policy, work, asked) == [effect]


class TestRuleLike:
    @pytest.mark.parametrize(
        ("asked", "others"),
        [
            (RM, [request("Bash", command="rm x y"), request("Bash", command="rm"), LS]),
            (
                request("Bash", command="echo a > b; git commit -m 'a b'"),
                [request("Bash", command="echo a > b; git commit -m a b")],
            ),
            (EDIT, [request("Edit", file_path="b.py"), request("Write", file_path="a.py"), OUT]),
            (
                request("Edit", file_path="app/[id]/*.py"),
                [request("Edit", file_path="app/i/x.py"), request("Edit", file_path="app/[id]/x.py")],
            ),
            (MCP, [request("mcp__db__read"), request("mcp__web__drop")]),
            (FETCH, [RM]),
        ],
    )
    def test_the_same_call_and_no_other(
        self, asked: PermissionRequested, others: list[PermissionRequested], work: Path
    ) -> None:
        rule = rule_like(asked, "allow", str(work))
        assert matches(rule, Asked.of(asked, str(work)))
        assert not any(matches(rule, Asked.of(other, str(work))) for other in others)
        assert rule.agent == "claude"

    def test_it_survives_the_file(self, work: Path, config: Path) -> None:
        asked = request("Bash", command='say "hi\\there"\n# \x7f é')
        rule = rule_like(asked, "deny", str(work))
        rulebook.remember_always(rule)
        assert rulebook.read(config) == [rule]
        assert config.stat().st_mode & 0o777 == 0o600

    def test_half_a_character_does_not_spoil_the_file(self, work: Path, config: Path) -> None:
        rulebook.remember_always(rule_like(request("Bash", command="say \ud83d"), "deny", str(work)))
        assert [rule.line for rule in rulebook.read(config)] == ["say \ufffd"]


# --- in a session --------------------------------------------------------------------------------------------


async def decided(session: Session, orders: str) -> list[tuple[str, str | None, str | None]]:
    events = [event async for event in session.prompt(orders)]
    return [(e.outcome, e.by, e.rule) for e in events if isinstance(e, PermissionResolved)]


ASK = f"ask Bash {json.dumps({'command': 'make'})}"


@pytest.mark.anyio
@pytest.mark.parametrize("by_hand", [False, True])
async def test_a_session_remembers_what_it_was_told(by_hand: bool) -> None:
    asked: list[Request] = []

    async def handler(request: Request, session: Session) -> Answer | None:
        asked.append(request)
        if by_hand:
            await session.answer("r1", "allow", remember=["session"])
            return None
        return Answer(request="r1", decision="allow", remember=["session"])

    async with alone(toy_plan(), handler=handler) as session:
        assert await decided(session, ASK) == [("allowed", "client", None)]
        assert await decided(session, ASK) == [("allowed", "policy", "rule 1 (this session)")]
    assert len(asked) == 1


@pytest.mark.anyio
async def test_what_cannot_be_written_down_is_still_answered(
    config: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config.parent.parent.write_text("no folder")

    def handler(request: Request, session: Session) -> Answer:
        return Answer(request="r1", decision="allow", remember=["always"])

    async with alone(toy_plan(), handler=handler) as session:
        assert await decided(session, ASK) == [("allowed", "client", None)]
        assert await decided(session, ASK) == [("allowed", "policy", "rule 1 (this session)")]
    assert "holds for this session only" in caplog.text


@pytest.mark.anyio
async def test_rules_are_about_the_folder_of_the_session_that_asks(tmp_path: Path) -> None:
    """Two sessions of one process, of which each works in a folder of its own."""
    rule = Rule(effect="allow", path=f"{tmp_path}/one/*", kind="edit")
    policy = Policy("never", Rulebook(("mine", [rule])))
    order = f"ask Edit {json.dumps({'file_path': 'a.py'})}"
    async with Connection(toy_plan("plural.py", capabilities=MANY), policy=policy) as agent:
        one, two = [await agent.session(tmp_path / name) for name in ("one", "two")]
        assert await decided(one, order) == [("allowed", "policy", "rule 1 (mine)")]
        assert await decided(two, order) == [("denied", "policy", "approve=never")]
