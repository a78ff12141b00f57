/**
 * Defines the names that cells of JavaScript see, in the realm of cells: errors and promises are those of cells. `kernel` is the
 * program that runs them. Functions are taken before the first cell, which may replace them.
 */
export const cellNames = String.raw`
const { Promise, Proxy, TypeError, Error } = globalThis;
class KernelError extends Error {
  constructor(message, kind = "failed") {
    super(message);
    this.name = "KernelError";
    this.kind = kind;
    // Otherwise its stack would be that of this program.
    this.stack = this.name + ": " + message;
  }
}
const ask = (type, payload) =>
  new Promise((resolve, reject) => kernel.ask(type, payload, (error, value) => (error ? reject(error) : resolve(value))));
const call = async (handler, params, onValue, onError) => {
  let value;
  try {
    value = await handler(params);
  } catch (error) {
    return onError(error);
  }
  onValue(value);
};
const callTool = (tool, params = {}) => ask("ToolCall", { from: "Bun", tool, params });
const tool = new Proxy(
  {},
  { get: (_, name) => (typeof name !== "string" || name === "then" ? undefined : (args) => callTool(name, args)) },
);
let instance;
class AgentBridge {
  static getInstance() {
    return (instance ??= new AgentBridge());
  }
  registerTool(name, handler, options = {}) {
    if (typeof name !== "string" || !/^[A-Za-z_]\w{0,50}$/.test(name))
      throw new TypeError("The name of a tool is at most 51 letters, digits and underscores.");
    if (typeof handler !== "function") throw new TypeError("The handler of a tool is a function.");
    kernel.register(name, handler, options);
  }
  async invokeTool(toolName, params = {}) {
    const handler = kernel.registered.get(toolName);
    if (handler) return await handler(params);
    try {
      return await callTool(toolName, params);
    } catch (error) {
      if (error.kind === "unknown_tool") throw new Error("Tool not found: " + toolName);
      throw error;
    }
  }
  async glob(pattern, cwd = process.cwd()) {
    return await ask("Glob", { pattern, cwd });
  }
  async readFile(path) {
    // In parts, since a whole file may be too large for a message.
    const parts = [];
    for (let offset = 1; offset !== null; ) {
      const { text, next } = await ask("ReadFile", { path, offset });
      parts.push(text);
      offset = next;
    }
    return parts.join("\n");
  }
  async writeFile(path, content) {
    await callTool("write", { path, content });
  }
}
const define = (names) => {
  for (const [name, value] of Object.entries(names))
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
};
define({
  tool,
  display: (...values) => {
    for (let index = 0; index < values.length; index++) kernel.display(values[index]);
  },
  AgentBridge,
  KernelError,
  agentBridge: AgentBridge.getInstance(),
  invokeTool: callTool,
  invoke_tool: callTool,
  py: (code) => ask("PythonExec", { code }),
  completion: (prompt, options = {}) => ask("Completion", { prompt, options }),
  agent: (prompt, options = {}) => ask("Agent", { prompt, options }),
  __import: (specifier, options) => import(specifier, options),
  require,
});
`;
