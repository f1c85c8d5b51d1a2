"""What a policy says of a call: rules first, then the mode, then whoever can be asked."""

import fnmatch
import json
import os
from pathlib import Path
from typing import Any, Literal

import pytest

from dragoman._model import toolnames
from dragoman._model.commands import Answer
from dragoman._model.config import APPROVE_MODES, Approve
from dragoman._model.errors import UsageError
from dragoman._model.events import PermissionOption, PermissionRequested, PermissionResolved
from dragoman._policy import places, rulebook
from dragoman._policy.permission import PermissionRequest
from dragoman._policy.policy import Policy, lasting, rule_like
from dragoman._policy.rulebook import Rulebook
from dragoman._policy.rules import Rule, matches
from dragoman._runtime.connection import Connection
from dragoman._runtime.requests import LATER, Handlers, Later
from dragoman._runtime.session import Session
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
    return [policy.decide(at(cwd, event)).effect for event in requests]


def at(cwd: Path, event: PermissionRequested, *files: Path | str) -> PermissionRequest:
    """The request of a session that works in `cwd`; `files` are those that its call was said to be about."""
    return PermissionRequest(event, str(cwd), [str(file) for file in files])


def settled(policy: Policy, cwd: Path, event: PermissionRequested, *files: Path | str) -> Answer | None:
    """The answer that needs nobody to be asked."""
    return policy.decide(at(cwd, event, *files)).answer()


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
            ("plan", "allow deny deny deny allow allow deny"),
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
        assert settled(policy, work, patch, work / "a.py") is not None
        assert settled(policy, work, patch, work / "a.py", "/etc/hosts") is None

    @pytest.mark.parametrize("mode", ["plan", "never"])
    def test_a_denial_says_why(self, mode: Approve, work: Path) -> None:
        decision = Policy(mode).decide(at(work, RM))
        assert (decision.rule, decision.by) == (f"approve={mode}", "policy")
        assert f"approve={mode}" in (decision.message or "")
        assert decision.answer() == Answer(
            decision="deny", by="policy", rule=decision.rule, message=decision.message
        )


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
        denied, allowed = (policy.decide(at(work, event)) for event in (RM, MCP))
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
        decision = policy.decide(at(work, EDIT))
        assert (decision.rule, decision.message) == ("no edits (mine)", "Denied by a rule: no edits (mine).")

    def test_the_rules_of_dangerous_come_after_all_others(self, work: Path) -> None:
        policy = Policy("dangerous", Rulebook(("mine", [Rule(effect="deny", command="ls")])))
        assert effects(policy, work, LS, request("Bash", command="pwd")) == ["deny", "allow"]
        decision = policy.decide(at(work, request("Bash", command="pwd")))
        assert decision.rule == "commands that only look (approve=dangerous)"


class TestDecided:
    def test_it_depends_on_where_the_session_works(self, tmp_path: Path) -> None:
        policy = Policy("ask", Rulebook(("mine", [Rule(effect="allow", path="inside")])))
        edit = request("Edit", file_path=str(tmp_path / "one" / "a.py"))
        answer = settled(policy, tmp_path / "one", edit)
        assert answer == Answer(decision="allow", by="policy", rule="rule 1 (mine)")
        assert settled(policy, tmp_path / "two", edit) is None

    def test_a_relative_path_is_one_of_the_session(self, tmp_path: Path) -> None:
        policy = Policy("ask", Rulebook(("mine", [Rule(effect="allow", path=f"{tmp_path}/one/*")])))
        assert settled(policy, tmp_path / "one", EDIT) is not None
        assert settled(policy, tmp_path / "two", EDIT) is None

    @pytest.mark.parametrize("path", ["a\0b", "a\ud83d", "~" * 5000, ""])
    def test_names_that_no_file_can_have(self, path: str, work: Path) -> None:
        rules = [Rule(effect="deny", path="secret"), Rule(effect="allow", path="src/**")]
        for event in (request("Edit", file_path=path), request("Bash", command=f"cat {path}")):
            assert settled(Policy("ask", Rulebook(("mine", rules))), work, event) is None

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
        policy.remember(at(work, RM), self.answer({"type": "setMode"}))
        assert settled(policy, work, RM) is None
        assert not config.exists()

    def test_for_the_session(self, work: Path, config: Path) -> None:
        policy = Policy()
        policy.remember(at(work, RM), self.answer("session"))
        answer = settled(policy, work, RM)
        assert answer is not None
        assert answer.rule == "rule 1 (this session)"
        assert settled(policy, work, request("Bash", command="rm x y")) is None
        assert settled(Policy("ask", rulebook.load(str(work))), work, RM) is None
        assert not config.exists()

    def test_always_is_written_to_the_users_own_file_and_nowhere_else(
        self, work: Path, config: Path, tmp_path: Path
    ) -> None:
        policy = Policy()
        policy.remember(at(work, RM), self.answer("always"))
        policy.remember(at(work, EDIT), self.answer("always", decision="deny"))
        assert settled(policy, work, RM) is not None
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == [config]
        later = Policy("ask", rulebook.load(str(work)))
        assert effects(later, work, RM, EDIT, LS) == ["allow", "deny", "ask"]
        assert effects(later, tmp_path, EDIT) == ["ask"]

    def test_a_denial_for_the_session(self, work: Path) -> None:
        policy = Policy("all")
        policy.remember(at(work, RM), self.answer("session", decision="deny"))
        assert effects(policy, work, RM, LS) == ["deny", "allow"]

    @pytest.mark.parametrize(("option", "effect"), [("yes", "allow"), ("no", "deny")])
    def test_the_option_that_was_chosen_decides(self, option: str, effect: str, work: Path) -> None:
        asked = request("Bash", command="make")
        asked.options = [
            PermissionOption(id="yes", kind="allow_once"),
            PermissionOption(id="no", kind="reject_once"),
        ]
        policy = Policy()
        policy.remember(at(work, asked), Answer(request="r1", option=option, remember=["session"]))
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
        rule = rule_like(at(work, asked), "allow")
        assert matches(rule, at(work, asked))
        assert not any(matches(rule, at(work, other)) for other in others)
        assert rule.agent == "claude"

    def test_it_survives_the_file(self, work: Path, config: Path) -> None:
        asked = request("Bash", command='say "hi\\there"\n# \x7f é')
        rule = rule_like(at(work, asked), "deny")
        rulebook.remember_always(rule)
        assert rulebook.read(config) == [rule]
        assert config.stat().st_mode & 0o777 == 0o600

    def test_half_a_character_does_not_spoil_the_file(self, work: Path, config: Path) -> None:
        rulebook.remember_always(rule_like(at(work, request("Bash", command="say \ud83d")), "deny"))
        assert [rule.line for rule in rulebook.read(config)] == ["say \ufffd"]


# --- in a session --------------------------------------------------------------------------------------------


async def decided(session: Session, orders: str) -> list[tuple[str, str | None, str | None]]:
    events = [event async for event in session.prompt(orders)]
    return [(e.outcome, e.by, e.rule) for e in events if isinstance(e, PermissionResolved)]


ASK = f"ask Bash {json.dumps({'command': 'make'})}"


@pytest.mark.anyio
@pytest.mark.parametrize("by_hand", [False, True])
async def test_a_session_remembers_what_it_was_told(by_hand: bool) -> None:
    asked: list[PermissionRequest] = []

    async def approve(request: PermissionRequest) -> Answer | Literal[Later.LATER]:
        asked.append(request)
        if by_hand:
            await session.answer("r1", "allow", remember=["session"])
            return LATER
        return Answer(decision="allow", remember=["session"])

    async with alone(toy_plan(), handlers=Handlers(approve=approve)) as session:
        assert await decided(session, ASK) == [("allowed", "client", None)]
        assert await decided(session, ASK) == [("allowed", "policy", "rule 1 (this session)")]
    assert len(asked) == 1


@pytest.mark.anyio
async def test_what_cannot_be_written_down_is_still_answered(
    config: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config.parent.parent.write_text("no folder")

    def approve(request: PermissionRequest) -> Answer:
        return Answer(decision="allow", remember=["always"])

    async with alone(toy_plan(), handlers=Handlers(approve=approve)) as session:
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


# --- hostile agents, projects and files ------------------------------------------------------------------------


class TestLasting:
    """An answer that lasts covers what was asked and nothing else; where nobody can say what that is, none is offered."""

    @pytest.mark.parametrize(
        "asked",
        [
            PermissionRequested(request_id="r1", kind="execute", title="npm test", agent="acp"),
            PermissionRequested(request_id="r1", kind="execute", title="npm test", input={}, agent="acp"),
            PermissionRequested(
                request_id="r1", tool_name="execute", kind="execute", title="npm test", agent="acp"
            ),
            PermissionRequested(request_id="r1", agent="acp"),
            PermissionRequested(request_id="r1", kind="edit", title="a.py", agent="acp"),
        ],
    )
    def test_nothing_is_offered_for_what_is_not_known(
        self, asked: PermissionRequested, work: Path, config: Path
    ) -> None:
        policy = Policy()
        assert lasting(at(work, asked)) is None
        assert not policy.remember(at(work, asked), Answer(decision="allow", remember=["always"]))
        assert settled(policy, work, asked) is None
        assert not config.exists()

    @pytest.mark.parametrize(
        ("asked", "others"),
        [
            (request("Bash", command="npm test"), [request("Bash", command="npm test", env={"PATH": "."})]),
            (request("Bash", command="npm test"), [request("Bash", command="npm test", cwd="/")]),
            (request("Bash", command="npm test"), [request("Bash", command="npm test", run_as="root")]),
            (
                request("terminal/create", command="npm", args=["test"], env=[{"name": "A", "value": "1"}]),
                [
                    request(
                        "terminal/create", command="npm", args=["test"], env=[{"name": "A", "value": "2"}]
                    ),
                    request("terminal/create", command="npm", args=["test"]),
                    request("terminal/create", command="npm", args=["test", "x"]),
                ],
            ),
            (request("run", script="npm test"), [request("run", script="rm -rf ~"), request("run")]),
            (request("write", thing="a"), [request("write", thing="b"), request("write", thing="a", more=1)]),
            (
                request("WebFetch", url="https://docs.example.com/a", prompt="x"),
                [
                    request("WebFetch", url="https://evil.example.com/a", prompt="x"),
                    request("WebFetch", url="https://docs.example.com\\@evil.org/", prompt="x"),
                    request("WebFetch", prompt="x"),
                ],
            ),
            (
                request("web_fetch", prompt="read https://a.example and https://b.example"),
                [request("web_fetch", prompt="read https://a.example and https://evil.example")],
            ),
            (request("mcp__db__query", sql="select 1"), [request("mcp__db__query", sql="drop table x")]),
            (
                request("mcp__fs__delete", path="a.py"),
                [request("mcp__fs__delete", path="b.py"), request("mcp__fs__delete")],
            ),
        ],
    )
    def test_the_same_and_no_other(
        self, asked: PermissionRequested, others: list[PermissionRequested], work: Path, config: Path
    ) -> None:
        assert lasting(at(work, asked)) is not None
        policy = Policy()
        assert policy.remember(at(work, asked), Answer(decision="allow", remember=["always"]))
        for known in (policy, Policy("ask", rulebook.load(str(work)))):
            assert effects(known, work, asked) == ["allow"]
            assert effects(known, work, *others) == ["ask"] * len(others)

    def test_another_kind_is_another_call(self, work: Path) -> None:
        policy = Policy()
        read = PermissionRequested(request_id="r1", kind="read", input={"path": "a.py"}, agent="acp")
        write = PermissionRequested(request_id="r1", kind="edit", input={"path": "a.py"}, agent="acp")
        policy.remember(at(work, read), Answer(decision="allow", remember=["session"]))
        assert effects(policy, work, read, write) == ["allow", "ask"]

    @pytest.mark.parametrize(
        ("asked", "words"),
        [
            (RM, "rm x in {work}"),
            (request("shell", command="npm test", cwd="/srv", env={"A": "1"}), "npm test with A=1 in /srv"),
            (EDIT, "Edit on {work}/a.py"),
            (FETCH, "WebFetch on example.com"),
            (request("run", script="x"), "run with exactly this input, in {work}"),
        ],
    )
    def test_what_it_covers_is_said(self, asked: PermissionRequested, words: str, work: Path) -> None:
        assert lasting(at(work, asked)) == words.format(work=work)


class TestProject:
    """A repository's own policy: it can be stricter, and it cannot stall."""

    def policy(self, mode: Approve, work: Path, rules: str) -> Policy:
        (work / ".dragoman").mkdir(exist_ok=True)
        (work / ".dragoman" / "policy.toml").write_text(rules)
        return Policy(mode, rulebook.load(str(work)))

    @pytest.mark.parametrize(
        ("mode", "ask", "deny"),
        [
            ("never", "deny", "deny"),
            ("plan", "deny", "deny"),
            ("ask", "ask", "deny"),
            ("edits", "ask", "deny"),
            ("dangerous", "ask", "deny"),
            ("all", "ask", "deny"),
        ],
    )
    def test_it_can_only_make_things_stricter(self, mode: Approve, ask: str, deny: str, work: Path) -> None:
        for effect, expected in (("allow", effects(Policy(mode), work, RM)[0]), ("ask", ask), ("deny", deny)):
            policy = self.policy(mode, work, f'[[rule]]\ncommand = "rm"\neffect = "{effect}"\n')
            assert effects(policy, work, RM) == [expected]

    def test_your_own_rules_come_first(self, work: Path, config: Path) -> None:
        config.parent.mkdir(parents=True)
        config.write_text('[[rule]]\ncommand = "rm"\neffect = "allow"\n')
        assert effects(self.policy("ask", work, '[[rule]]\ncommand = "rm"\neffect = "deny"\n'), work, RM) == [
            "allow"
        ]

    @pytest.mark.parametrize(
        "text",
        [
            "x = " + "[" * 50_000,
            "x = " + "{a=" * 50_000,
            "a" + ".a" * 50_000 + " = 1\n",
            "[" + "a." * 50_000 + "a]\n",
            "x = {" + "a." * 50_000 + "a = 1}\n",
            "#" * (2 << 20),
            '[[rule]]\neffect = "deny"\n' * 60_000,
        ],
        ids=["brackets", "braces", "dots", "header", "inline", "size", "rules"],
    )
    def test_a_file_that_would_take_for_ever_is_an_error(self, text: str, work: Path) -> None:
        with pytest.raises(UsageError, match=r"policy\.toml"):
            self.policy("ask", work, text)

    def test_no_regular_file(self, work: Path) -> None:
        (work / ".dragoman").mkdir()
        for make in (lambda path: path.symlink_to("/dev/zero"), os.mkfifo, lambda path: path.mkdir()):
            path = work / ".dragoman" / "policy.toml"
            make(path)
            with pytest.raises(UsageError, match=r"regular file|Is a directory"):
                rulebook.load(str(work))
            path.rmdir() if path.is_dir() else path.unlink()

    def test_dots_and_brackets_in_texts_are_no_matter(self, work: Path) -> None:
        line = "echo " + "." * 500 + "[" * 500
        rule = rule_like(at(work, request("Bash", command=line)), "allow")
        assert rule is not None
        rulebook.remember_always(rule)
        assert effects(Policy("ask", rulebook.load(str(work))), work, request("Bash", command=line)) == [
            "allow"
        ]

    def test_globs_take_linear_time(self, work: Path) -> None:
        """Each part of the pattern looks at each part of the path once: counted, not timed."""
        looks = 0
        whole = fnmatch.fnmatchcase

        def counted(name: str, glob: str) -> bool:
            nonlocal looks
            looks += 1
            return whole(name, glob)

        path, pattern = "/" + "a/" * 100 + "b", "/" + "**/a/" * 30 + "c"
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(fnmatch, "fnmatchcase", counted)
            assert not places.matches(path, pattern)
        assert looks < 100 * 62


class TestHidden:
    """A name that cannot be read may be the one that a rule denies: somebody is asked."""

    BOOK = Rulebook(("mine", [Rule(effect="deny", command="rm", name="keep")]))

    @pytest.mark.parametrize(
        ("line", "effect"),
        [
            ("rm x", "deny"),
            ("timeout 5 sh -c 'rm x'", "deny"),
            ("$x y", "ask"),
            ("echo rm x | sh", "ask"),
            ("echo $x", "allow"),
            ("for i in 1 2; do echo $i; done", "allow"),
            ("git log $(git rev-parse HEAD)", "allow"),
        ],
    )
    def test_with_everything_else_allowed(self, line: str, effect: str, work: Path) -> None:
        decision = Policy("all", self.BOOK).decide(at(work, request("Bash", command=line)))
        assert decision.effect == effect
        if effect == "ask":
            assert decision.rule == "keep (mine, not sure)"

    def test_without_such_a_rule_nobody_is_asked(self, work: Path) -> None:
        assert effects(Policy("all"), work, request("Bash", command="$x y")) == ["allow"]


def test_the_mode_may_change_while_it_runs(work: Path) -> None:
    policy = Policy("ask")
    assert effects(policy, work, EDIT) == ["ask"]
    policy.mode = "edits"
    assert effects(policy, work, EDIT) == ["allow"]
    policy.mode = "plan"
    assert effects(policy, work, EDIT) == ["deny"]


# --- bounds of a sandbox ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", APPROVE_MODES)
def test_nothing_leads_out_of_a_sandbox(mode: Approve, work: Path) -> None:
    bound = Rule(effect="deny", name="sandbox=workspace", kind="edit", path="outside")
    allow = Rule(effect="allow")
    policy = Policy(mode, Rulebook(("mine", [allow])), granted=[allow], bounds=[bound])
    out = PermissionRequest(request("Write", file_path=str(work.parent / "x"), content=""), str(work))
    assert policy.remember(out, Answer(decision="allow", remember=["session"]))
    assert policy.decide(out).rule == "sandbox=workspace"
    assert policy.decide(out).effect == "deny"
    inside = PermissionRequest(request("Write", file_path=str(work / "x"), content="/etc/x"), str(work))
    assert policy.decide(inside).effect == ("deny" if mode == "plan" else "allow")
