/** The machine: its users, kernel, services, processes and settings. */
import type { Effect, Programs } from "./program.ts";

const stops: Effect = { does: "critical shutdown", says: "$n stops the machine." };
const startsItself: Effect = { does: "high persistence", says: "$n makes a service start by itself.", min: 1 };
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
        ...startsItself,
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

  // What runs later.
  "crontab incrontab fcrontab": {
    does: "high persistence",
    says: "It changes what runs at set times.",
    unless: /^-l$/,
  },
  "at batch": { rules: ["at"] },
  launchctl: { ...startsItself, unless: /^(?:list|print|blame|getenv|print-disabled|help|version)$/ },
  "update-rc.d chkconfig rc-update sysv-rc-conf": { ...startsItself, unless: /^(?:--list|show|-l)$/ },
  "update-alternatives alternatives dpkg-divert debconf-set-selections": {
    ...startsItself,
    unless: /^--(?:display|list|query|get-selections|config-help)$/,
  },
  "service rc-service initctl": {
    does: "medium persistence",
    says: "$n changes a service.",
    min: 2,
    unless: /^(?:status|--status-all|list)$/,
  },
  "pm2 supervisorctl forever": {
    does: "high persistence",
    says: "$n makes programs start by themselves.",
    arg: /^(?:startup|save|enable|service)$/,
  },
  "gsettings dconf defaults xdg-mime xdg-settings kwriteconfig5 plutil PlistBuddy": {
    does: "medium persistence",
    says: "$n changes settings of the desktop or the system.",
    arg: /^(?:write|set|import|load|default|reset|--install|--set|--config|install)$/,
  },
  logrotate: {
    options: "s:m:l:dfv state= mail= log= debug force verbose",
    runs: "m mail",
    writes: "s state l log",
    rules: ["logrotate"],
  },

  // What they print.
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
