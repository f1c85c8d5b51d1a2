"""The usage example of the specification (004 §9.2) in Python, with nothing left out."""

from dragoman.agent_protocol import (
    AgentClient,
    AgentType,
    ApprovalMode,
    FileChangedEvent,
    SessionConfig,
    SessionEndedEvent,
    SessionStartedEvent,
    TextChunkEvent,
    ToolCompletedEvent,
    ToolStartedEvent,
    TurnCompletedEvent,
)


async def main(client: AgentClient, agent_type: AgentType | str, folder: str) -> list[str]:
    """What it printed. The client, the agent and the folder are the test's; the rest is the specification's."""
    printed: list[str] = []

    session = await client.start_session(
        SessionConfig(
            agent_type=agent_type,
            prompt="Refactor the authentication module to use async/await",
            working_directory=folder,
            approval_mode=ApprovalMode.autoAll,
        ),
    )

    async for event in session.events:
        match event:
            case SessionStartedEvent(session_id=session_id):
                printed.append(f"Session started: {session_id}")
            case TextChunkEvent(content=content, is_partial=is_partial):
                printed.append(content + ("" if is_partial else "\n"))
            case ToolStartedEvent(tool_name=tool_name, arguments=arguments):
                printed.append(f"[Tool] {tool_name}: {arguments}")
            case ToolCompletedEvent(tool_id=tool_id, success=success, result=result):
                printed.append(f"[Result] {tool_id}: {'OK' if success else 'FAILED'} - {result}")
            case FileChangedEvent(file_path=file_path, change_type=change_type):
                printed.append(f"[File] {change_type}: {file_path}")
            case TurnCompletedEvent(usage=usage):
                if usage is not None:
                    printed.append(f"[Tokens] in={usage.input_tokens} out={usage.output_tokens}")
            case SessionEndedEvent(reason=reason, error=error):
                printed.append(f"[End] {reason}{': ' + error if error else ''}")

    resumed = await client.start_session(
        SessionConfig(
            agent_type=agent_type,
            prompt="Continue with error handling",
            working_directory=folder,
            session_id=session.id,
        ),
    )
    printed += [
        f"[End] {event.reason}" async for event in resumed.events if isinstance(event, SessionEndedEvent)
    ]
    assert resumed.id == session.id
    return printed
