/** Programs that run something later or by themselves, and settings of the desktop and the system. */
import type { Effect, Programs } from "./program.ts";

const startsItself: Effect = { does: "high persistence", says: "$n makes a service start by itself.", min: 1 };

export const services: Programs = {
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
};
