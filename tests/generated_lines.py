"""Traffic that no agent ever wrote, in the words of each dialect: names and values that mean something to its
machine, in shapes that it nearly knows.

TRAFFIC gives single lines, by dialect; `spoiled_runs` gives captured runs with faults.
"""

import json
from functools import cache
from typing import Any

from hypothesis import strategies as st

from dragoman._dialects.claude.stream import messages as claude_stream
from dragoman._dialects.claude.transcript import messages as claude_transcript
from dragoman._dialects.codex.app.items import Item
from dragoman._dialects.codex.app.messages import NOTIFICATIONS, REQUESTS
from dragoman._dialects.codex.exec import messages as codex_exec
from dragoman._dialects.codex.rollout import messages as codex_rollout
from dragoman._dialects.copilot import messages as copilot_messages
from dragoman._dialects.gemini.stream import messages as gemini_stream
from dragoman._files.sources import open_source
from dragoman._model.frames import Direction
from tests.golden import captures, source

Values = st.SearchStrategy[Any]
Fields = st.SearchStrategy[dict[str, Any]]
Line = tuple[Direction, bytes]
"""A line, and who wrote it."""
Lines = st.SearchStrategy[Line]

SCALARS = st.none() | st.booleans() | st.integers(-3, 9) | st.integers() | st.floats() | st.text(max_size=3)


class Vocabulary:
    """The names of a dialect's fields, and words that decide something where they are a value."""

    def __init__(self, names: str, words: str, *phrases: str) -> None:
        self.names = st.sampled_from(names.split())
        self.words = st.sampled_from([*words.split(), *phrases, "\ud83d"])
        self.values: Values = st.recursive(
            self.words | SCALARS,
            lambda inner: st.lists(inner, max_size=2) | st.dictionaries(self.names, inner, max_size=4),
            max_leaves=6,
        )
        self.fields: Fields = st.dictionaries(self.names, self.values, max_size=5)


def one_of(words: str) -> st.SearchStrategy[str]:
    return st.sampled_from(words.split())


def written(direction: Direction, values: Values) -> Lines:
    """A line of JSON; sometimes it is none."""
    stray = st.binary(max_size=20).map(lambda data: data.replace(b"\n", b" "))
    line = values.map(lambda value: json.dumps(value).encode())
    return st.integers(0, 9).flatmap(lambda n: line if n else stray).map(lambda line: (direction, line))


# --- Claude ------------------------------------------------------------------------------------------------

CLAUDE_STREAM = Vocabulary(
    """
    type subtype session_id uuid message id role model content stop_reason usage parent_tool_use_id error agent_id
    subagent_type tool_use_result isReplay isSynthetic status is_error api_error_status num_turns result
    terminal_reason total_cost_usd modelUsage permission_denials errors structured_output deferred_tool_use origin
    event index content_block delta partial_json text thinking name input tool_use_id task_id task_type
    is_backgrounded patch permissionMode compact_metadata trigger pre_tokens state attempt max_retries request_id
    request response behavior updatedInput tool_name original_model fallback_model command_uuid
    new_conversation_id rate_limit_info input_tokens output_tokens partial
    """,
    """
    text thinking tool_use tool_result server_tool_use web_search_tool_result text_delta thinking_delta
    input_json_delta message_start content_block_start content_block_delta content_block_stop message_delta
    message_stop error_during_execution success completed killed async_launched Task Bash TodoWrite Write
    end_turn refusal can_use_tool interrupt set_permission_mode allow deny plan s1 s2 m1 t1 t2 r1 user assistant
    <synthetic>
    """,
    "[Request interrupted by user]",
    '{"command":',
)
_CLAUDE_BLOCKS = st.builds(
    lambda fields, kind, id: {**fields, "type": kind, "id": id, "tool_use_id": id},
    CLAUDE_STREAM.fields,
    one_of("text thinking tool_use tool_result server_tool_use image ?"),
    one_of("t1 t2"),
)
_CLAUDE_MESSAGES = st.builds(
    lambda fields, kind, message, blocks, parent: {
        **fields,
        "type": kind,
        "message": {**message, "content": blocks},
        "parent_tool_use_id": parent,
    },
    CLAUDE_STREAM.fields,
    one_of("assistant user"),
    CLAUDE_STREAM.fields,
    st.lists(_CLAUDE_BLOCKS, max_size=2),
    st.sampled_from([None, None, "t1"]),
)
_CLAUDE_EVENTS = st.builds(
    lambda kind, index, block, delta, text: {
        "type": "stream_event",
        "event": {
            "type": kind,
            "index": index,
            "message": {"id": "m1"},
            "content_block": block,
            "delta": {"type": delta, "text": text, "thinking": text, "partial_json": text},
        },
    },
    one_of(
        "message_start content_block_start content_block_delta content_block_stop message_delta message_stop ?"
    ),
    st.integers(0, 2),
    _CLAUDE_BLOCKS,
    one_of("text_delta thinking_delta input_json_delta signature_delta ?"),
    st.sampled_from(["", "a", "b\ud83d", "\ude00", "{"]),
)
_CLAUDE_CONTROL = st.builds(
    lambda kind, id, request: {
        "type": kind,
        "request_id": id,
        "request": request,
        "response": {"subtype": "success", "request_id": id, "response": request},
    },
    one_of("control_request control_response control_cancel_request"),
    one_of("r1 r2"),
    st.builds(
        lambda kind, fields: {"tool_name": "Bash", "tool_use_id": "t1", **fields, "subtype": kind},
        one_of("can_use_tool interrupt initialize set_permission_mode hook_callback mcp_message ?"),
        CLAUDE_STREAM.fields,
    ),
)
_CLAUDE_OTHERS = st.builds(
    lambda kind, subtype, fields: {**fields, "type": kind, "subtype": subtype},
    st.sampled_from(["system"] * 8 + sorted(claude_stream.TYPES) + ["?"]),
    st.sampled_from([*sorted(claude_stream.SYSTEM_TYPES), "success", "error_max_turns", "?"]),
    CLAUDE_STREAM.fields,
)

CLAUDE_TRANSCRIPT = Vocabulary(
    """
    type subtype uuid parentUuid sessionId agentId isSidechain timestamp cwd version message promptId isMeta
    isCompactSummary toolUseResult toolDenialKind permissionMode content id model role name stop_reason usage
    input tool_use_id is_error attachment prompt compactMetadata data leafUuid summary mode customTitle
    totalCostUSD modelUsage toolUseId isApiErrorMessage text thinking
    """,
    """
    user assistant system attachment summary progress cost-state mode custom-title queue-operation text thinking
    tool_use tool_result server_tool_use web_search_tool_result Task Bash TodoWrite informational local_command
    compact_boundary api_error queued_command hook_success s1 s2 u1 t1 end_turn refusal
    <task-notification><tool-use-id>t1</tool-use-id><status>completed</status></task-notification>
    <local-command-stdout>x</local-command-stdout> <command-name>/x</command-name>
    """,
    "[Request interrupted by user]",
)
_TRANSCRIPT_BLOCKS = st.builds(
    lambda fields, kind: {"id": "t1", "tool_use_id": "t1", **fields, "type": kind},
    CLAUDE_TRANSCRIPT.fields,
    one_of("text thinking tool_use tool_result server_tool_use ?"),
)
_TRANSCRIPT_LINES = st.builds(
    lambda fields, kind, subtype, message: {**fields, "type": kind, "subtype": subtype, "message": message},
    CLAUDE_TRANSCRIPT.fields,
    st.sampled_from(["user", "assistant"] * 4 + sorted(claude_transcript.TYPES) + ["system", "system", "?"]),
    st.sampled_from([*sorted(claude_transcript.SYSTEM_TYPES), "?"]),
    st.builds(
        lambda fields, content: {**fields, "content": content},
        CLAUDE_TRANSCRIPT.fields,
        CLAUDE_TRANSCRIPT.words | st.lists(_TRANSCRIPT_BLOCKS, max_size=2),
    ),
)

# --- Codex -------------------------------------------------------------------------------------------------

CODEX_APP = Vocabulary(
    """
    threadId turnId itemId id delta item turn thread status error tokenUsage text summary content changes server
    tool arguments result receiverThreadIds agentsStates agentThreadId kind phase requestId run review goal plan
    _meta serverName questions permissions availableDecisions command summaryIndex contentIndex input name
    rateLimits threadSettings willRetry action fragments aggregatedOutput contentItems
    """,
    "a b t1 t2 c1 completed inProgress interrupted",
    "",
)
_CODEX_THREADS = one_of("t1 t2 t3")
_CODEX_ITEMS = st.builds(
    lambda id, fields, kind: {"id": id, **fields, "type": kind},
    CODEX_APP.words,
    CODEX_APP.fields,
    st.sampled_from([*sorted(str(kind.__struct_config__.tag) for kind in Item.__subclasses__()), "new"]),
)
_CODEX_TURNS = st.builds(lambda id, status: {"id": id, "status": status}, CODEX_APP.words, CODEX_APP.words)
_CODEX_PARAMS = st.builds(
    lambda fields, more: {**fields, **more},
    CODEX_APP.fields,
    st.fixed_dictionaries(
        {}, optional={"threadId": _CODEX_THREADS, "item": _CODEX_ITEMS, "turn": _CODEX_TURNS}
    ),
)
_CODEX_ANSWERS = st.builds(
    lambda id, result: {"id": id, "result": result}, st.integers(0, 3), CODEX_APP.values | _CODEX_PARAMS
)
_CODEX_REQUESTS = st.builds(
    lambda id, method, params: {"id": id, "method": method, "params": params},
    st.integers(0, 3),
    st.sampled_from(sorted(REQUESTS)),
    _CODEX_PARAMS,
)
_CODEX_NOTIFICATIONS = st.builds(
    lambda method, params: {"method": method, "params": params},
    st.sampled_from(sorted(NOTIFICATIONS)),
    _CODEX_PARAMS,
)
_CODEX_COMMANDS = st.builds(
    lambda id, method, thread, rest: {"id": id, "method": method, "params": {"threadId": thread, **rest}},
    st.integers(0, 3),
    one_of("turn/start turn/steer turn/interrupt thread/fork thread/resume review/start"),
    _CODEX_THREADS,
    CODEX_APP.fields,
)
_CODEX_MESSAGES = _CODEX_NOTIFICATIONS | _CODEX_NOTIFICATIONS | _CODEX_REQUESTS | _CODEX_ANSWERS

CODEX_EXEC = Vocabulary(
    """
    id type status text phase message command aggregated_output exit_code changes file_path diff server tool name
    arguments result error prompt receiver_thread_ids agents_states query action items questions thread_id usage
    payload msg delta call_id info total_token_usage last_token_usage rate_limits chunk path kind move_path content
    unified_diff plan step completed input_tokens reason
    """,
    """
    agent_message reasoning command_execution tool_call shell file_change file_edit mcp_tool_call web_search todo_list
    collab_tool_call spawn_agent wait error input_request completed failed declined in_progress i1 i2 t1 t2
    task_started task_complete turn_aborted user_message agent_message_delta agent_reasoning agent_reasoning_delta
    token_count exec_command_begin exec_command_end exec_command_output_delta patch_apply_begin patch_apply_end
    exec_approval_request session_configured context_compacted mcp_tool_call_end web_search_end add update
    """,
)
_EXEC_ITEMS = st.builds(
    lambda fields, kind, id, text: {**fields, "type": kind, "id": id, "text": text},
    CODEX_EXEC.fields,
    CODEX_EXEC.words,
    one_of("i1 i2"),
    st.sampled_from(["", "a", "ab", "abc", "b", "a\ud83d", "a\ud83d\ude00"]),
)
_EXEC_LINES = st.builds(
    lambda kind, fields, item: {**fields, "type": kind, "item": item, "payload": item},
    st.sampled_from([*sorted(codex_exec.TYPES), "codex/event", "?"]),
    CODEX_EXEC.fields,
    _EXEC_ITEMS,
)

CODEX_ROLLOUT = Vocabulary(
    """
    id type status role content text item call_id name namespace arguments input output summary summary_text raw_content
    phase message session_id forked_from_id parent_thread_id source subagent history_base
    subagent_history_start_ordinal turn_id reason error last_agent_message info total_token_usage last_token_usage
    rate_limits usage turn_token_usage input_tokens changes command cwd exit_code duration secs nanos server tool result
    receiver_thread_ids agents_states agent_thread_id kind query action path thread_settings model
    """,
    """
    message reasoning function_call function_call_output custom_tool_call custom_tool_call_output web_search_call
    agent_message user_message task_started task_complete turn_aborted token_count item_completed patch_apply_end
    thread_rolled_back context_compacted session_configured UserMessage AgentMessage Reasoning CommandExecution
    FileChange McpToolCall WebSearch ImageView CollabAgentToolCall SubAgentActivity ContextCompaction spawn_agent
    started completed failed shell apply_patch update_plan s1 s2 s3 c1 c2 user assistant developer
    """,
)
_ROLLOUT_PAYLOADS = st.builds(
    lambda fields, kind, item, item_kind, ids: {
        **fields,
        "type": kind,
        "item": {**item, "type": item_kind},
        **ids,
    },
    CODEX_ROLLOUT.fields,
    CODEX_ROLLOUT.words,
    CODEX_ROLLOUT.fields,
    CODEX_ROLLOUT.words,
    st.fixed_dictionaries({}, optional={"id": one_of("s1 s2 c1"), "call_id": st.just("c1")}),
)
_ROLLOUT_LINES = st.builds(
    lambda kind, ordinal, payload: {
        "timestamp": "2026-01-01T00:00:00Z",
        "ordinal": ordinal,
        "type": kind,
        "payload": payload,
    },
    st.sampled_from([*sorted(codex_rollout.TYPES), "?"]),
    st.none() | st.integers(0, 5),
    _ROLLOUT_PAYLOADS,
)

# --- Gemini ------------------------------------------------------------------------------------------------

GEMINI_STREAM = Vocabulary(
    """
    type role content delta tool_name tool_id parameters status output error message severity stats models session_id
    model value result args name id total_tokens input_tokens output_tokens cached thought_tokens duration_ms attempt
    todos description agent_name prompt file_path old_string new_string timestamp subject code
    """,
    """
    user assistant success error warning cancelled write_file write_todos invoke_agent read_file__1 write_file__1
    s1 s2 unknown policy_violation FatalTurnLimitedError pending a \ude00 x\ud83d
    """,
)
_GEMINI_LINES = st.builds(
    lambda kind, fields: {**fields, "type": kind},
    st.sampled_from([*sorted(gemini_stream.TYPES), "?"]),
    GEMINI_STREAM.fields,
)
_GEMINI_DELTAS = st.builds(
    lambda text: {"type": "message", "role": "assistant", "content": text, "delta": True},
    st.sampled_from(["a", "", "\ud83d", "\ude00", "x\ud83d"]),
)

GEMINI_CHAT = Vocabulary(
    """
    id type content text thought functionCall functionResponse inlineData name args response output error thoughts
    subject description tokens input cached total toolCalls status result resultDisplay fileDiff filePath
    originalContent newContent isNewFile agentId messages summary sessionId projectHash kind directories model
    displayContent timestamp $set $rewindTo todos agent_name prompt
    """,
    """
    user gemini info error warning success cancelled executing subagent main m1 m2 c1 c2 s1 s2 write_file write_todos
    invoke_agent <session_context> <state_snapshot>x
    """,
)
_CHAT_CALLS = st.builds(
    lambda fields, id, name, status: {**fields, "id": id, "name": name, "status": status},
    GEMINI_CHAT.fields,
    one_of("c1 c2"),
    one_of("write_file write_todos invoke_agent x"),
    one_of("success error cancelled executing"),
)
_CHAT_ENTRIES = st.builds(
    lambda fields, id, kind, calls: {**fields, "id": id, "type": kind, "toolCalls": calls},
    GEMINI_CHAT.fields,
    one_of("m1 m2 m3"),
    one_of("user gemini info error ?"),
    st.lists(_CHAT_CALLS, max_size=2),
)
_CHAT_LISTS = st.builds(lambda entries: {"$set": {"messages": entries}}, st.lists(_CHAT_ENTRIES, max_size=3))
_CHAT_BRACES: Lines = st.sampled_from([b"{", b"}", b"", b"  }"]).map(lambda line: ("out", line))

# --- Qwen Code and Copilot CLI -----------------------------------------------------------------------------

QWEN_CHAT = Vocabulary(
    """
    uuid parentUuid sessionId timestamp type subtype provenance cwd version model message role parts text thought
    functionCall functionResponse inlineData id name args response output error usageMetadata promptTokenCount
    candidatesTokenCount thoughtsTokenCount totalTokenCount toolCallResult callId status executionStatus resultDisplay
    errorType durationMs fileDiff filePath originalContent newContent exitCode executionMode systemPayload uiEvent
    event.name input_token_count output_token_count total_token_count prompt_id subagent_id call_id duration_ms
    error_message status_code customTitle userText displayText info originalTokenCount compressedHistory forkedFrom
    agentId agentName isSidechain todos content subagent_type description
    """,
    """
    user assistant tool_result system ui_telemetry chat_compression custom_title rewind at_command session_model
    notification mid_turn_user_message qwen-code.api_response qwen-code.api_error qwen-code.tool_call s1########0
    success cancelled not_started execution_denied shell_result background foreground s1 s2 u1 u2 c1 c2 agent
    todo_write write_file helper-c1 helper <task-notification><task-id>helper-c1</task-id>
    """,
)
_QWEN_LINES = st.builds(
    lambda fields, kind, session, uuid, subtype, aside, parts: {
        **fields, "type": kind, "sessionId": session, "uuid": uuid, "subtype": subtype,
        "isSidechain": aside, "agentId": "helper-c1", "message": {"parts": parts},
    },
    QWEN_CHAT.fields,
    one_of("user assistant tool_result system ?"),
    one_of("s1 s2"),
    one_of("u1 u2 u3 u4 u5 u6 u7 u8"),
    one_of("ui_telemetry chat_compression custom_title rewind at_command notification hologram") | st.none(),
    st.booleans(),
    st.lists(
        QWEN_CHAT.fields
        | st.builds(
            lambda id, name, args: {"functionCall": {"id": id, "name": name, "args": args}},
            one_of("c1 c2"),
            one_of("agent todo_write write_file"),
            QWEN_CHAT.fields,
        )
        | st.builds(
            lambda id, response: {"functionResponse": {"id": id, "response": response}},
            one_of("c1 c2"),
            QWEN_CHAT.fields,
        ),
        max_size=2,
    ),
)  # fmt: skip
_QWEN_NOTES = st.builds(
    lambda name, fields, subagent: {
        "type": "system", "subtype": "ui_telemetry", "sessionId": "s1",
        "systemPayload": {"uiEvent": {**fields, "event.name": name, "subagent_id": subagent}},
    },
    one_of("qwen-code.api_response qwen-code.api_error qwen-code.tool_call"),
    QWEN_CHAT.fields,
    one_of("helper-c1 memory") | st.none(),
)  # fmt: skip

COPILOT_EVENTS = Vocabulary(
    """
    type id timestamp parentId agentId data sessionId version context cwd selectedModel newModel copilotVersion content
    messageId source delivery attachments path displayName mimeType toolRequests toolCallId name arguments reasoningText
    chunkIndex model phase success result error message code fileEdits kind detailedContent file_text shellExecution
    exitCode structuredContent contents usage inputTokens outputTokens accounting sourceSessionId sequence apiCallId
    requestId permissionRequest fullCommandText decisionSource feedback agentName agentDescription cancelled summary
    modelMetrics compactionTokensUsed compactionAttemptId summaryContent trigger preCompactionTokens toolUsage
    hookType statusCode errorType newMode mcpServerName mcpToolName toolName parentToolCallId reasoningId
    """,
    f"""
    {" ".join(sorted(copilot_messages.SPEAKING))} s1 s2 c1 c2 a1 a2 r1 r2 approved denied-by-rules cancelled
    human_response steering idle create edit delete denied rejected manual commentary text image user agent-1 task bash
    """,
)
_COPILOT_LINES = st.builds(
    lambda kind, agent, fields, call, request: {
        "type": kind, "id": "e", "parentId": None, "timestamp": "2026-01-01T00:00:00Z", "agentId": agent,
        "data": {**fields, "toolCallId": call, "requestId": request},
    },
    st.sampled_from([*sorted(copilot_messages.SPEAKING), "assistant.turn_end", "?"]),
    one_of("a1 a2") | st.none(),
    COPILOT_EVENTS.fields,
    one_of("c1 c2"),
    one_of("r1 r2"),
)  # fmt: skip

# --- ACP ---------------------------------------------------------------------------------------------------

_ACP_UPDATES = """
    user_message_chunk agent_message_chunk agent_thought_chunk agent_message tool_call tool_call_update
    tool_call_content_chunk terminal_update terminal_output_chunk state_update usage_update plan_update
    compaction_update config_option_update available_commands_update current_mode_update session_info_update
"""
_ACP_METHODS = """
    session/update session/new session/load session/prompt session/request_permission initialize session/fork
    fs/read_text_file terminal/output elicitation/create $/cancel_request
"""
ACP = Vocabulary(
    """
    jsonrpc id method params result error sessionId update sessionUpdate content messageId toolCallId toolCall title
    name kind status locations rawInput rawOutput type text path oldText newText terminalId data output exitStatus
    exitCode state stopReason usage inputTokens totalTokens _meta claudeCode toolResponse parentToolUseId
    terminal_output terminal_exit terminal_id exit_code configOptions category currentValue options value modes
    availableModes currentModeId models availableModels modelId entries availableCommands used size cost amount
    currency severity compactionId summary prompt optionId outcome protocolVersion code message requestId mode
    elicitationId changes operation patch quota token_count model_usage model subject command plan
    """,
    f"""
    {_ACP_UPDATES} {_ACP_METHODS} 2.0 _vendor plan notice running idle completed failed cancelled in_progress
    end_turn s1 s2 c1 c2 t1 QQ== text diff terminal content mode model select allow_once selected USD
    dragoman-open dragoman-set-1
    """,
)
_ACP_SESSIONS = one_of("s1 s2")
_ACP_NOTIFICATIONS = st.builds(
    lambda session, kind, fields: {
        "method": "session/update",
        "params": {"sessionId": session, "update": {**fields, "sessionUpdate": kind}},
    },
    _ACP_SESSIONS,
    one_of(f"{_ACP_UPDATES} in_progress end_turn allow_once plan notice"),
    ACP.fields,
)
_ACP_CALLS = st.builds(
    lambda id, method, session, fields: {
        "id": id,
        "method": method,
        "params": {**fields, "sessionId": session},
    },
    st.integers(0, 3),
    one_of(_ACP_METHODS),
    _ACP_SESSIONS,
    ACP.fields,
)
_ACP_ANSWERS = st.builds(
    lambda id, key, value: {"id": id, key: value}, st.integers(0, 3), one_of("result error"), ACP.values
)
_ACP_LINES = st.builds(
    lambda message: {"jsonrpc": "2.0", **message}, _ACP_NOTIFICATIONS | _ACP_CALLS | _ACP_ANSWERS | ACP.fields
)

# --- all of them -------------------------------------------------------------------------------------------

VOCABULARIES = {
    "acp": ACP,
    "claude_stream": CLAUDE_STREAM,
    "claude_transcript": CLAUDE_TRANSCRIPT,
    "codex_app": CODEX_APP,
    "codex_exec": CODEX_EXEC,
    "codex_rollout": CODEX_ROLLOUT,
    "copilot_events": COPILOT_EVENTS,
    "gemini_chat": GEMINI_CHAT,
    "gemini_stream": GEMINI_STREAM,
    "qwen_chat": QWEN_CHAT,
}
TRAFFIC: dict[str, Lines] = {
    "acp": written("out", _ACP_LINES) | written("out", _ACP_LINES) | written("in", _ACP_LINES),
    "claude_stream": written("out", _CLAUDE_MESSAGES | _CLAUDE_EVENTS | _CLAUDE_CONTROL | _CLAUDE_OTHERS)
    | written("in", _CLAUDE_MESSAGES | _CLAUDE_CONTROL),
    "claude_transcript": written("out", _TRANSCRIPT_LINES | _TRANSCRIPT_LINES | CLAUDE_TRANSCRIPT.fields),
    "codex_app": written("out", _CODEX_MESSAGES) | written("in", _CODEX_COMMANDS | _CODEX_MESSAGES),
    "codex_exec": written("out", _EXEC_LINES),
    "codex_rollout": written("out", _ROLLOUT_LINES),
    "copilot_events": written("out", _COPILOT_LINES | _COPILOT_LINES | COPILOT_EVENTS.fields),
    "gemini_chat": written("out", GEMINI_CHAT.fields | _CHAT_ENTRIES | _CHAT_LISTS) | _CHAT_BRACES,
    "gemini_stream": written("out", _GEMINI_LINES | _GEMINI_DELTAS),
    "qwen_chat": written("out", _QWEN_LINES | _QWEN_NOTES | QWEN_CHAT.fields),
}

# --- captured runs with faults -----------------------------------------------------------------------------


@cache
def runs(dialect: str) -> list[list[Line]]:
    """What was said in each capture of a dialect, and in the session files of its subagents."""
    files = [
        file
        for capture in captures(dialect)
        for file in (source(capture), *sorted(capture.glob("subagent-*.jsonl")))
    ]
    said: list[list[Line]] = [
        [(frame.dir, frame.line) for frame in open_source(file, dialect) if frame.dir in ("out", "in")]
        for file in files
    ]
    return [run for run in said if run]


@st.composite
def spoiled_runs(draw: st.DrawFn, dialect: str) -> list[Line]:
    """A captured run in which some lines are lost, said twice, out of order, cut, or say something else."""
    traffic = list(draw(st.sampled_from(runs(dialect))))
    for fault in draw(st.lists(one_of("changed changed lost doubled moved cut"), min_size=1, max_size=8)):
        at = draw(st.integers(0, len(traffic) - 1))
        direction, line = traffic[at]
        if fault == "changed":
            traffic[at] = direction, _changed(draw, line, VOCABULARIES[dialect].values)
        elif fault == "cut":
            traffic[at] = direction, line[: draw(st.integers(0, len(line)))]
        elif fault == "doubled":
            traffic.insert(at, traffic[at])
        elif fault == "moved":
            traffic.insert(draw(st.integers(0, len(traffic) - 1)), traffic.pop(at))
        elif len(traffic) > 1:
            del traffic[at]
    return traffic


def _changed(draw: st.DrawFn, line: bytes, values: Values) -> bytes:
    """The line with one of its values, at any depth, replaced."""
    try:
        value = json.loads(line)
    except ValueError:
        return line
    place = value
    while isinstance(place, dict | list) and place:
        key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        inner = place[key]
        if not inner or not isinstance(inner, dict | list) or draw(st.booleans()):
            place[key] = draw(values)
            break
        place = inner
    return json.dumps(value).encode()
