/** The pages of `docs`, which `tau help TOPIC` shows. Tests compare the table with the directory and with the lists of pages. */

interface Page {
  /** The topic, and the file without `.md`. */
  name: string;
  summary: string;
}

export const pages: readonly Page[] = [
  { name: "first-hour", summary: "ask, steer, queue, stop, approve, go back, resume: with pictures" },
  { name: "coming-from", summary: "what you know from pi, Claude Code, codex or opencode, and what it is called here" },
  { name: "troubleshooting", summary: "what to do when something does not work" },
  { name: "install", summary: "installing the program and the libraries, and the smallest program" },
  { name: "cli", summary: "the program: flags, commands, output and exit codes" },
  { name: "terminal", summary: "the interactive terminal: commands, images, the editor, drafts" },
  { name: "commands", summary: "/context, /review, /init, /btw: what they show and do" },
  { name: "keybindings", summary: "the keys of the terminal, and how to change them" },
  { name: "themes", summary: "colors, and themes of your own" },
  { name: "sessions", summary: "working with sessions, how they are stored, and what is guaranteed" },
  { name: "auth", summary: "keys and logins of providers" },
  { name: "models", summary: "choosing models; servers and models of your own" },
  { name: "cost", summary: "what sessions have used, and limits of the cost of a day and a month" },
  { name: "settings", summary: "every setting" },
  { name: "environment", summary: "every environment variable that tau reads and that commands get" },
  { name: "permissions", summary: "recipes: what tau may do without asking you" },
  { name: "trust", summary: "what a project may change before and after you trust it" },
  { name: "security", summary: "the policy, the sandbox, secrets and the audit" },
  { name: "resources", summary: "where instructions, skills, templates and agents are" },
  { name: "skills", summary: "writing a skill" },
  { name: "templates", summary: "writing a prompt template" },
  { name: "agents", summary: "agents of your own, and those that come with tau" },
  { name: "tools", summary: "the tools that a model is offered" },
  { name: "features", summary: "what tau adds to its core, and how to turn it off" },
  { name: "code", summary: "language servers, the debugger, and what else helps with code" },
  { name: "mcp", summary: "MCP servers: tools, resources and prompts of other programs" },
  { name: "codemode", summary: "scripts of the model that call tools" },
  { name: "kernels", summary: "Python and JavaScript that keep their variables and call tools" },
  { name: "web", summary: "searches and pages of the web: what is asked about and refused" },
  { name: "browser", summary: "web pages that the model uses in a Chromium, and what it can reach" },
  { name: "github", summary: "issues, pull requests, runs and releases of GitHub" },
  { name: "memory", summary: "facts of a project that stay between sessions, and how to undo them" },
  { name: "undo", summary: "taking back what a prompt did to the files" },
  { name: "hooks", summary: "commands of yours that run before and after calls, at prompts and more" },
  { name: "extensions", summary: "tools, commands, events, interface, models of your own; examples" },
  { name: "packages", summary: "installing, updating and making packages of extensions" },
  { name: "editors", summary: "tau in Zed, JetBrains, Neovim and VS Code, over ACP" },
  { name: "json", summary: "JSON mode: every event and the result" },
  { name: "rpc", summary: "RPC mode: tau as a part of another program" },
  { name: "gateway", summary: "sessions for other terminals, browsers and programs: protocol, pairing, webhooks" },
  { name: "channels", summary: "agents that answer where people talk: pairing, routing, what is delivered" },
  { name: "schedules", summary: "agents that work at certain times: schedules, the heartbeat, what is missed" },
  { name: "cluster", summary: "several gateways as one" },
  { name: "sdk", summary: "sessions in a program of your own" },
  { name: "choosing", summary: "choosing between a model, an agent, a session, a host and a gateway" },
  { name: "server", summary: "agents for the users of a product, on a server of your own" },
  { name: "testing", summary: "testing agents offline, and evaluating their answers" },
  { name: "embedding", summary: "an agent with `@tau/agent` alone" },
];

/** Topics that are neither a command nor a page. */
export const extraTopics = ["keys", "exit-codes"] as const;
