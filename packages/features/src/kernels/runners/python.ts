import { bridge } from "./python-bridge.ts";
import { cells } from "./python-cells.ts";
import { messages } from "./python-messages.ts";
import { values } from "./python-values.ts";

/**
 * The program of a Python kernel, which `python3 -c` runs. It reads messages from descriptor 3 and writes them to descriptor 4.
 * Only modules in C that cost nothing are imported at the start; `json` comes with the first message, `asyncio` with the first
 * `await`. It has builtins of its own, because cells may change theirs. Works with Python 3.9 and newer.
 */
export const pythonRunner = `import builtins
exec(${JSON.stringify(messages + values + bridge + cells)}, {"__builtins__": dict(vars(builtins)), "__name__": "__main__"})
`;
