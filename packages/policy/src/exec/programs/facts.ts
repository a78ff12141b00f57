/** Programs that print facts about the machine, its users and its processes. */
import type { Programs } from "./program.ts";

export const facts: Programs = {
  "date nproc uname tty uptime getconf tput locale": { prints: "value" },
  wc: { prints: "value" },
  lsof: { is: ["otherO"], prints: "value" },
  "whoami hostname logname hostnamectl users who w": { prints: "identity" },
  id: { is: ["otherO"], prints: "identity" },
  ps: {
    is: ["otherO"],
    prints: "processes",
    // `ps e` of BSD and Linux shows the environment of each process.
    secrets: [{ option: /^[aefghjlmnrstuvwxTX]*e[aefghjlmnrstuvwxTX]*$/ }],
  },
  "top pstree": { prints: "processes" },
  pidof: { prints: "pidof" },
  printenv: { prints: "environment" },
};
