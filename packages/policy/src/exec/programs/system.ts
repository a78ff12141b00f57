/** Power, services of the system and processes. */
import type { Effect, Programs } from "./program.ts";

const stops: Effect = { does: "critical shutdown", says: "$n stops the machine." };
const stopVerb =
  "poweroff|reboot|halt|kexec|soft-reboot|suspend|hibernate|hybrid-sleep|suspend-then-hibernate|sleep|emergency|rescue|exit|default";
const stopTarget =
  "(?:poweroff|reboot|halt|kexec|shutdown|emergency|rescue|suspend|hibernate|sleep|runlevel[016]|ctrl-alt-del|exit)\\.target";
const services: Effect = { does: "medium persistence", says: "systemctl $1 changes services." };
const killOptions =
  "signal= euid= uid= user= group= pgroup= parent= session= terminal= full exact newest oldest inverse ignore-case pidfile= ns= runstates= regexp younger-than= older-than= verbose wait interactive echo count";

export const system: Programs = {
  shutdown: { effects: [{ ...stops, does: "medium shutdown", arg: /^(?:-c|--show|-k)$/ }, stops] },
  "reboot halt poweroff pm-suspend pm-hibernate pm-powersave systemd-sleep": { ...stops },
  "init telinit": { ...stops, words: /(?:^| )(?:[0-6sSqQaA](?: |$)|\S*\uFFFF)/ },
  "dbus-send busctl gdbus qdbus osascript-dbus": {
    ...stops,
    arg: /(?:PowerOff|Reboot|Halt|Suspend|Hibernate|KExec|Shutdown)\b/,
  },
  killall: { options: `eIgilqrs:u:vwy:o:n:Z:0123456789 ${killOptions}`, rules: ["killByName"] },
  "pkill skill xkill": {
    options: `cd:efF:G:g:ilLnoP:r:s:t:u:U:vwxaHqzN0123456789 ${killOptions}`,
    rules: ["killByName"],
  },
  "killall5 slay": { does: "critical process_kill", says: "$n ends all processes.", always: true },
  fuser: {
    prints: "value",
    does: "medium process_kill",
    says: "It ends the processes that use a file or port.",
    arg: /^-\w*k|^--kill$/,
  },
  rtcwake: {
    ...stops,
    says: "It stops the machine.",
    arg: /^(?:off|mem|disk|standby)$|^(?:-m|--mode=?)(?:off|mem|disk|standby)/,
  },
  systemctl: {
    options:
      "t:n:o:H:M:p:P:s:qalfri type= state= lines= output= host= machine= property= signal= job-mode= root= message= when= user system no-pager quiet all now force no-block",
    effects: [
      {
        ...stops,
        says: "systemctl $1 stops the machine.",
        words: new RegExp(`^(?=(?:${stopVerb})(?: |$)|(?:start|isolate|enable) (?:.* )?${stopTarget}(?: |$))(\\S+)`),
      },
      {
        does: "high persistence",
        says: "systemctl $1 makes a service start by itself.",
        words:
          /^(enable|reenable|link|edit|add-wants|add-requires|preset|revert|unmask|set-property|import-environment|set-environment)(?: |$)/,
      },
      { ...services, does: "high persistence", words: /^(set-default)(?: |$)/ },
      { ...services, does: "medium process_kill", words: /^(kill)(?: |$)/ },
      {
        ...services,
        words:
          /^(start|stop|restart|reload|disable|mask|daemon-reload|daemon-reexec|try-restart|reload-or-restart|isolate|reset-failed)(?: |$)/,
      },
    ],
  },
  loginctl: {
    effects: [
      { ...stops, says: "loginctl $1 stops the machine.", words: new RegExp(`^(${stopVerb})(?: |$)`) },
      { does: "high persistence", says: "Services keep running after a logout.", words: /^enable-linger(?: |$)/ },
      {
        does: "high process_kill",
        says: "loginctl $1 ends all processes of a user.",
        words: /^((?:terminate|kill)-\S*)/,
      },
    ],
  },
  kill: { rules: ["kill"] },
};
