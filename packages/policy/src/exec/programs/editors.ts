/** Editors and debuggers. */
import { type Effect, type Programs, stdinName } from "./program.ts";

const scriptInput = new RegExp(`(?:^| )-[sS] ?${stdinName}`);
const attaches: Effect = {
  does: "medium privilege_escalation",
  says: "$n changes another process.",
  arg: /^-(?:p|-pid)/,
};

export const editors: Programs = {
  "vi vim nvim": { is: ["showsText", "viewer"], rules: ["editor"], stdinCode: scriptInput },
  "ex ed": { rules: ["editor"], stdinCode: /^/ },
  "view gvim emacsclient": { rules: ["editor"] },
  emacs: { is: ["viewer"], rules: ["editor"] },
  nano: { is: ["showsText", "viewer"], rules: ["editor"] },
  "hx micro subl": { is: ["viewer"] },
  code: {
    is: ["viewer"],
    effects: [
      { does: "high reverse_shell", says: "$n makes this machine reachable.", line: /^tunnel(?: |$)/, also: true },
      { does: "medium persistence", says: "$n installs an extension.", arg: /^--(?:install-extension|add-mcp)/ },
    ],
  },
  "codium cursor windsurf code-insiders": { like: "code" },
  "gdb lldb": {
    is: ["runner"],
    ...attaches,
    rules: ["clientCode", "debugger"],
    stdinCode: new RegExp(`(?:^| )(?:-x|--?command|-s|--source)[= ]?${stdinName}`),
  },
  ctags: { is: ["otherO"], options: "f:o:RL: options=", writes: "f o" },
};
