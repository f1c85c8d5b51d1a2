"""An agent made with the Python package agent-client-protocol: it does what the first word of a prompt says."""

import asyncio
from typing import Any

import acp
from acp import schema as s

HERE = "session-1"
OPTIONS = [
    s.PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
    s.PermissionOption(option_id="no", name="No", kind="reject_once"),
]
MODES = s.SessionModeState(
    current_mode_id="calm",
    available_modes=[s.SessionMode(id="calm", name="Calm"), s.SessionMode(id="wild", name="Wild")],
)


class LibraryAgent(acp.Agent):
    def on_connect(self, conn: acp.Client) -> None:
        self.client = conn
        self.cwd = ""
        self.cancelled = asyncio.Event()

    async def initialize(self, protocol_version: int, **fields: Any) -> acp.InitializeResponse:
        return acp.InitializeResponse(
            protocol_version=acp.PROTOCOL_VERSION,
            agent_capabilities=s.AgentCapabilities(load_session=True),
            agent_info=s.Implementation(name="library-agent", version="1.2.3"),
        )

    async def new_session(self, cwd: str, **fields: Any) -> acp.NewSessionResponse:
        self.cwd = cwd
        return acp.NewSessionResponse(session_id=HERE, modes=MODES)

    async def load_session(self, cwd: str, session_id: str, **fields: Any) -> acp.LoadSessionResponse:
        self.cwd = cwd
        await self.tell(acp.update_user_message_text("hello"))
        await self.tell(acp.update_agent_message_text("Hello to you."))
        return acp.LoadSessionResponse(modes=MODES)

    async def set_session_mode(
        self, session_id: str, mode_id: str, **fields: Any
    ) -> acp.SetSessionModeResponse:
        await self.tell(s.CurrentModeUpdate(session_update="current_mode_update", current_mode_id=mode_id))
        return acp.SetSessionModeResponse()

    async def cancel(self, session_id: str, **fields: Any) -> None:
        self.cancelled.set()

    async def prompt(self, session_id: str, prompt: list[Any], **fields: Any) -> acp.PromptResponse:
        word = prompt[0].text.split()[0]
        stop = await getattr(self, f"do_{word}")()
        return acp.PromptResponse(stop_reason=stop or "end_turn")

    async def tell(self, update: Any) -> None:
        await self.client.session_update(session_id=HERE, update=update)

    # --- what a prompt can ask for -----------------------------------------------------------------------

    async def do_hello(self) -> None:
        await self.tell(acp.update_agent_thought_text("A greeting."))
        await self.tell(acp.update_plan([acp.plan_entry("Greet", status="in_progress")]))
        for piece in ("Hello ", "to ", "you."):
            await self.tell(acp.update_agent_message_text(piece))

    async def do_write(self) -> None:
        path = f"{self.cwd}/new.txt"
        diff = acp.tool_diff_content(path, "fresh\n")
        call = acp.start_edit_tool_call("call-1", "Write new.txt", path, "fresh\n", extra_options=[diff])
        await self.tell(call)
        about = s.ToolCallUpdate(tool_call_id="call-1", title="Write new.txt", kind="edit", content=[diff])
        answer = await self.client.request_permission(session_id=HERE, tool_call=about, options=OPTIONS)
        if getattr(answer.outcome, "option_id", "no") == "no":
            await self.tell(acp.update_tool_call("call-1", status="failed"))
            return
        await self.client.write_text_file(session_id=HERE, path=path, content="fresh\n")
        read = await self.client.read_text_file(session_id=HERE, path=path)
        await self.tell(acp.update_tool_call("call-1", status="completed", content=[diff]))
        await self.tell(acp.update_agent_message_text(f"It says {read.content!r}."))

    async def do_run(self) -> None:
        made = await self.client.create_terminal(
            session_id=HERE, command="sh", args=["-c", "echo out; exit 3"], cwd=self.cwd
        )
        shown = [acp.tool_terminal_ref(made.terminal_id)]
        await self.tell(acp.start_tool_call("call-2", "sh", kind="execute", content=shown))
        ended = await self.client.wait_for_terminal_exit(session_id=HERE, terminal_id=made.terminal_id)
        seen = await self.client.terminal_output(session_id=HERE, terminal_id=made.terminal_id)
        await self.tell(acp.update_tool_call("call-2", status="completed"))
        await self.client.release_terminal(session_id=HERE, terminal_id=made.terminal_id)
        await self.tell(acp.update_agent_message_text(f"{seen.output!r} and {ended.exit_code}"))

    async def do_ask(self) -> None:
        name = s.ElicitationStringPropertySchema(type="string")
        form = s.ElicitationSchema(properties={"name": name}, required=["name"])
        mode = s.ElicitationFormSessionMode(session_id=HERE, requested_schema=form)
        answer = await self.client.create_elicitation(message="Who are you?", mode=mode)
        content = getattr(answer, "content", None) or {}
        await self.tell(acp.update_agent_message_text(f"Hello, {content.get('name', 'whoever')}."))

    async def do_wait(self) -> str:
        await self.tell(acp.update_agent_message_text("Waiting."))
        await self.cancelled.wait()
        return "cancelled"

    async def do_fail(self) -> None:
        raise acp.RequestError(-32603, "It went wrong.")


if __name__ == "__main__":
    asyncio.run(acp.run_agent(LibraryAgent()))
