/** Users, rights and the kernel: programs that give more rights, or change who has them. */
import type { Effect, Programs } from "./program.ts";

const otherUser: Effect = { does: "high privilege_escalation", says: "$n runs with the rights of another user." };
const otherRoot: Effect = {
  does: "high privilege_escalation",
  says: "$n enters other namespaces or another root directory.",
};

export const rights: Programs = {
  "gosu su-exec": { ...otherUser, wraps: { skip: 1, isPrivileged: true } },
  setpriv: {
    options:
      "- reuid= regid= groups= inh-caps= ambient-caps= bounding-set= no-new-privs clear-groups init-groups keep-groups",
    ...otherUser,
    wraps: { isPrivileged: true },
  },
  doas: { options: "a:C:Lnsu:", ...otherUser, wraps: { isPrivileged: true } },
  pkexec: {
    options: "- user= disable-internal-agent keep-cwd",
    ...otherUser,
    wraps: { isPrivileged: true },
  },
  run0: {
    options: "- unit= user= group= chdir= setenv= background= via-shell",
    ...otherUser,
    wraps: { isPrivileged: true },
  },
  dzdo: { options: "u:g:p:nSEHis", ...otherUser, wraps: { isPrivileged: true } },
  nsenter: {
    options:
      "t:S:G:amuipnUCTrwFZ target= setuid= setgid= root=? wd=? all mount=? uts=? ipc=? net=? pid=? user=? cgroup=? time=?",
    effects: [
      { ...otherRoot, does: "critical privilege_escalation", line: /(?:^| )(?:-t ?|--target[= ])1(?: |$)/ },
      otherRoot,
    ],
    wraps: {},
  },
  unshare: {
    options:
      "muinpUCTfrcR:w:S:G: mount=? uts=? ipc=? net=? pid=? user=? cgroup=? time=? fork map-root-user map-current-user root= wd= setuid= setgid= mount-proc=? kill-child=? keep-caps",
    ...otherRoot,
    wraps: {},
  },
  chroot: { options: "- groups= userspec= skip-chdir", ...otherRoot, wraps: { skip: 1 } },
  "sudo sudoedit": {
    options:
      "AbBC:D:Eeg:HhiKklNnp:PR:r:SsT:t:U:u:Vv askpass background bell close-from= chdir= preserve-env=? edit group= set-home host= login remove-timestamp reset-timestamp list non-interactive preserve-groups prompt= chroot= role= stdin shell type= command-timeout= other-user= user= validate",
    rules: ["sudo"],
  },
  "su runuser sg": {
    options:
      "c:g:G:lmps:u:w:fP command= group= supp-group= login preserve-environment shell= session-command= user= whitelist-environment= fast pty",
    rules: ["su"],
  },

  chmod: {
    is: ["namesFiles", "readsNothing"],
    options: "Rcfvh recursive changes silent quiet verbose reference= preserve-root no-preserve-root",
    rules: ["chmod"],
  },
  gchmod: { like: "chmod" },
  "chown chgrp": { is: ["namesFiles", "readsNothing"], rules: ["chown"] },
  gchown: { like: "chown" },
  install: {
    is: ["namesFiles"],
    options:
      "bcCdDg:m:o:pst:TvS:Z mode= owner= group= target-directory= directory backup=? compare preserve-timestamps strip suffix= no-target-directory verbose",
    rules: ["installFiles"],
  },
  ginstall: { like: "install" },
  "setfacl chattr": {
    is: ["runner"],
    does: "high privilege_escalation",
    says: "$n changes the protection of the machine.",
    writesOperand: { index: -1, min: 1 },
  },

  "usermod useradd userdel groupadd groupdel groupmod gpasswd adduser deluser addgroup delgroup newusers": {
    rules: ["groups"],
  },
  mount: {
    is: ["runner", "namesFiles"],
    effects: [
      { does: "critical privilege_escalation", says: "$n changes what is mounted.", arg: /remount/ },
      { does: "high privilege_escalation", says: "$n changes what is mounted.", arg: /^(?!-[lv]+$)/ },
    ],
  },
  "umount losetup pivot_root swapon swapoff fusermount": { like: "mount", is: ["runner"] },
  "setcap visudo insmod modprobe rmmod kmod kexec setenforce mknod aa-disable aa-teardown aa-complain": {
    is: ["runner"],
    does: "critical privilege_escalation",
    says: "$n changes what programs or the kernel may do.",
  },
  "iptables ip6tables nft ufw firewall-cmd ebtables xhost newgrp systemd-nspawn machinectl semanage auditctl bpftool debugfs":
    {
      is: ["runner"],
      does: "high privilege_escalation",
      says: "$n changes the protection of the machine.",
    },
  sysctl: {
    is: ["runner"],
    does: "high privilege_escalation",
    says: "sysctl changes the kernel.",
    arg: /^(?:-w|--write|-p|--load.*|--system)$|^[\w./-]+=/,
  },
  capsh: { rules: ["capsh"] },
  bpftrace: {
    is: ["runner"],
    does: "medium privilege_escalation",
    says: "$n changes another process.",
    arg: /^-(?:p|-pid)/,
  },
};
