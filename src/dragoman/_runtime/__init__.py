"""The only async code: processes, sessions, replay. Runs on asyncio and on trio."""
