"""The streams that specification 004 prints, as it prints them."""

CLAUDE = """\
{"type":"system","subtype":"init","uuid":"uuid1","session_id":"sess_abc123","claude_code_version":"1.0.32","cwd":"/project","tools":["Read","Edit"],"model":"claude-sonnet-4-20250514","permissionMode":"default"}
{"type":"user","uuid":"uuid2","session_id":"sess_abc123","message":{"role":"user","content":[{"type":"text","text":"Refactor the auth module"}]},"parent_tool_use_id":null}
{"type":"assistant","uuid":"uuid3","session_id":"sess_abc123","message":{"role":"assistant","content":[{"type":"text","text":"I'll analyze the codebase..."},{"type":"tool_use","id":"toolu_01","name":"Read","input":{"file_path":"/src/auth.ts"}}]},"parent_tool_use_id":null}
{"type":"user","uuid":"uuid4","session_id":"sess_abc123","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01","content":"export function login()..."}]},"parent_tool_use_id":"toolu_01","isSynthetic":true}
{"type":"assistant","uuid":"uuid5","session_id":"sess_abc123","message":{"role":"assistant","content":[{"type":"text","text":"I found the auth module. Let me refactor it..."},{"type":"tool_use","id":"toolu_02","name":"Edit","input":{"file_path":"/src/auth.ts","old_string":"function login()","new_string":"async function login()"}}]},"parent_tool_use_id":null}
{"type":"tool_progress","uuid":"uuid6","session_id":"sess_abc123","tool_use_id":"toolu_02","tool_name":"Edit","elapsed_time_seconds":0.5}
{"type":"user","uuid":"uuid7","session_id":"sess_abc123","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_02","content":"File updated"}]},"parent_tool_use_id":"toolu_02","isSynthetic":true}
{"type":"assistant","uuid":"uuid8","session_id":"sess_abc123","message":{"role":"assistant","content":[{"type":"text","text":"Done! I've made the login function async."}]},"parent_tool_use_id":null}
{"type":"result","subtype":"success","uuid":"uuid9","session_id":"sess_abc123","duration_ms":12500,"is_error":false,"num_turns":3,"result":"Done!","usage":{"input_tokens":5000,"output_tokens":1200}}
"""
"""§3.6"""

CODEX = """\
{"type":"thread.started","thread_id":"sess_abc123"}
{"type":"turn.started"}
{"type":"item.started","item":{"id":"1","type":"reasoning","text":""}}
{"type":"item.updated","item":{"id":"1","type":"reasoning","text":"I need to analyze the auth module first..."}}
{"type":"item.completed","item":{"id":"1","type":"reasoning","text":"I need to analyze the auth module first..."}}
{"type":"item.started","item":{"id":"2","type":"command_execution","command":"cat src/auth.ts","aggregated_output":"","exit_code":null,"status":"in_progress"}}
{"type":"item.updated","item":{"id":"2","type":"command_execution","command":"cat src/auth.ts","aggregated_output":"export function login() {...","exit_code":null,"status":"in_progress"}}
{"type":"item.completed","item":{"id":"2","type":"command_execution","command":"cat src/auth.ts","aggregated_output":"export function login() {...","exit_code":0,"status":"completed"}}
{"type":"item.started","item":{"id":"3","type":"file_change","changes":[{"path":"src/auth.ts","kind":"update"}],"status":"in_progress"}}
{"type":"item.completed","item":{"id":"3","type":"file_change","changes":[{"path":"src/auth.ts","kind":"update"}],"status":"completed"}}
{"type":"item.started","item":{"id":"4","type":"agent_message","text":""}}
{"type":"item.updated","item":{"id":"4","type":"agent_message","text":"I've refactored the login function to be async."}}
{"type":"item.completed","item":{"id":"4","type":"agent_message","text":"I've refactored the login function to be async."}}
{"type":"turn.completed","usage":{"input_tokens":1250,"cached_input_tokens":500,"output_tokens":487}}
"""
"""§4.9"""

GEMINI = """\
{"type":"init","timestamp":"2025-12-03T10:00:00.000Z","session_id":"abc123-def456","model":"gemini-2.0-flash-exp"}
{"type":"message","role":"user","content":"Analyze and refactor the auth module","timestamp":"2025-12-03T10:00:01.000Z"}
{"type":"tool_use","tool_name":"Bash","tool_id":"bash-001","parameters":{"command":"cat src/auth.ts"},"timestamp":"2025-12-03T10:00:02.000Z"}
{"type":"tool_result","tool_id":"bash-001","status":"success","output":"export function login() {...}","timestamp":"2025-12-03T10:00:03.000Z"}
{"type":"message","role":"assistant","content":"I found the login function. Let me make it async...","delta":true,"timestamp":"2025-12-03T10:00:04.000Z"}
{"type":"tool_use","tool_name":"write_file","tool_id":"write-001","parameters":{"file_path":"./src/auth.ts","content":"export async function login() {...}"},"timestamp":"2025-12-03T10:00:05.000Z"}
{"type":"tool_result","tool_id":"write-001","status":"success","timestamp":"2025-12-03T10:00:06.000Z"}
{"type":"message","role":"assistant","content":"Done! I've refactored the login function to be async.","timestamp":"2025-12-03T10:00:07.000Z"}
{"type":"result","status":"success","stats":{"total_tokens":350,"input_tokens":100,"output_tokens":250,"duration_ms":5000,"tool_calls":2},"timestamp":"2025-12-03T10:00:08.000Z"}
"""
"""§5.6"""

FLAT = """\
{"type":"init","session_id":"sess_123"}
{"type":"tool_use","id":"toolu_01","name":"Edit","input":{"file":"test.txt"}}
{"type":"tool_result","tool_use_id":"toolu_01","content":"OK","is_error":false}
{"type":"result","status":"success","session_id":"sess_123"}
"""
"""§9.5"""
