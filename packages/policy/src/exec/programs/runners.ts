/** Programs that run other ones, and shells. */
import type { Programs } from "./program.ts";

/** Options of all programs that take lines of code. */
const lineOptions = "c command x exec p prepare cleanup wrap";

export const runners: Programs = {
  // GNU and util-linux, with all of their options.
  nice: { options: "n:0123456789 adjustment= help version", wraps: { isStrict: true } },
  nohup: { options: "- help version", wraps: { isStrict: true } },
  setsid: { options: "cfw ctty fork wait help version", wraps: { isStrict: true } },
  stdbuf: { options: "i:o:e: input= output= error= help version", wraps: { isStrict: true } },
  ionice: { options: "c:n:p:P:u:t class= classdata= pid= pgid= uid= ignore help version", wraps: { isStrict: true } },
  timeout: {
    options: "k:s:vfp kill-after= signal= foreground preserve-status verbose help version",
    wraps: { isStrict: true, skip: 1 },
  },
  time: {
    options: "pf:o:avqV portability format= output= append verbose quiet help version",
    writes: "o output",
    wraps: { isStrict: true },
  },
  chrt: {
    options: "abfioT:P:D:mpRrdv all-tasks batch fifo idle other rr deadline max pid verbose",
    wraps: { isStrict: true, skip: 1 },
  },
  taskset: { options: "acp all-tasks cpu-list pid help version", wraps: { isStrict: true, skip: 1 } },
  flock: {
    options:
      "sxnuw:E:oFc:e shared exclusive nonblock unlock wait= timeout= conflict-exit-code= close no-fork command= verbose",
    code: "c command",
    wraps: { isStrict: true, skip: 1 },
  },
  unbuffer: { options: "p", wraps: { isStrict: true } },
  chronic: { options: "ev", wraps: { isStrict: true } },
  "catchsegv cross-env torify": { wraps: { isStrict: true } },
  setarch: {
    options: "hvRFZLXBIST3q: uname-2.6 verbose addr-no-randomize 32bit",
    wraps: { isStrict: true, maySkip: true },
  },
  "linux32 linux64": { options: "RFZLXBIST3", wraps: { isStrict: true } },
  numactl: {
    options: "i:N:m:C:p:l interleave= cpunodebind= membind= physcpubind= preferred= localalloc all",
    wraps: { isStrict: true },
  },
  caffeinate: { options: "disut:w:", wraps: { isStrict: true } },
  "cross-env-shell": { wraps: { isStrict: true, joins: true } },
  fakeroot: { options: "l:s:i:uhv lib= faked= save= load= unknown-is-real", wraps: { isStrict: true } },
  faketime: { options: "mpf", wraps: { isStrict: true, skip: 1 } },
  torsocks: { options: "diuaP:pq", wraps: { isStrict: true } },
  "proxychains proxychains4": { options: "qf:", wraps: { isStrict: true } },

  // With many options of their own: the command is the rest after what looks like options.
  strace: { options: "o:e:p:s:u:E:a:I:O:S:P:b:X: output= trace= attach= user=", writes: "o output", wraps: {} },
  ltrace: { options: "o:e:p:s:u:l:n:a:A:D:F:x: output=", writes: "o output", wraps: {} },
  valgrind: { options: "- tool= log-file= xml-file= suppressions=", writes: "log-file xml-file", wraps: {} },
  perf: {
    options: "e:F:o:p:t:C:u:G:D:r:m:x: output=",
    writes: "o output",
    wraps: { verb: /^(?:record|stat|trace|bench)$/ },
  },
  "xvfb-run": { options: "e:f:n:p:s:w:al server-args= server-num= error-file= auth-file=", wraps: {} },
  "dbus-run-session": { options: "- config-file= dbus-daemon=", wraps: {} },
  "systemd-run": {
    options:
      "p:E:M:H:tPqGSrd unit= property= description= slice= uid= gid= setenv= working-directory= on-calendar= on-active= on-boot= timer-property= machine= host= nice= user scope pty pipe quiet wait collect shell",
    wraps: {},
  },
  "systemd-inhibit": { options: "- what= who= why= mode=", wraps: {} },
  firejail: { options: "- profile=", wraps: {} },
  bwrap: {
    options: "- bind= ro-bind= dev-bind= tmpfs= proc= dev= dir= chdir= setenv= unsetenv= unshare-all",
    wraps: {},
  },
  "rlwrap catatonit": { wraps: {} },
  arch: { wraps: {}, prints: "value" },
  entr: { options: "acdnprs:xz", code: "s", wraps: {} },
  watchexec: { options: "e:w:i:s:d: exts= watch= ignore=", wraps: {} },
  dotenv: { options: "e:f:v:", wraps: {} },
  dotenvx: { wraps: { skip: 1, verb: /^run$/ } },
  "envdir runcon": { wraps: { skip: 1 } },
  sshpass: { options: "p:f:d:P:eV", wraps: {} },
  tini: { options: "gsvwp:e:", wraps: {} },
  "dumb-init": { options: "cr:v", wraps: {} },
  cgexec: { options: "g:", wraps: {} },
  prlimit: { options: "p:c:d:e:f:i:l:m:n:q:r:s:t:u:v:x:y:", wraps: {} },
  xterm: { options: "e hold geometry= title=", hasSingleDash: true, wraps: { joins: true } },
  konsole: { options: "e", wraps: {} },
  "gnome-terminal": { options: "- title= working-directory= tab window", wraps: {} },

  env: {
    options:
      "iu:C:S:P:0v ignore-environment unset= chdir= split-string= null debug block-signal=? default-signal=? ignore-signal=? argv0= list-signal-handling",
    rules: ["env"],
  },

  // Lines of code.
  watch: {
    options: "n:bcdegtrpqCwx interval= differences=? beep color errexit chgexit no-title exec precise",
    stopsAtOperand: true,
    code: lineOptions,
    lines: "line",
  },
  hyperfine: {
    options:
      "w:r:m:M:p:c:n:s:S:N warmup= runs= prepare= cleanup= command-name= shell= export-json= export-markdown= parameter-list=",
    code: lineOptions,
    lines: "lines",
  },
  concurrently: { options: "n:c:k names= prefix= kill-others success=", code: lineOptions, lines: "lines" },
  "pee mispipe": { code: lineOptions, lines: "lines" },
  "npm-run-all": { code: lineOptions, lines: "none" },
  nodemon: { options: "x:e:w: exec= ext= watch=", code: lineOptions, lines: "none" },
  sbatch: { options: "- wrap=", code: lineOptions, lines: "none" },
  script: { options: "c:qfaeB:I:O:T:t command= quiet flush append return", code: lineOptions, lines: "none" },

  // One run for each of many inputs.
  "xargs gxargs": {
    options:
      "0a:d:E:I:L:n:P:s:rtpxoiel null arg-file= delimiter= eof=? replace=? max-lines=? max-args= max-procs= max-chars= no-run-if-empty verbose interactive exit open-tty process-slot-var= show-limits",
    rules: ["xargs"],
  },
  parallel: {
    options:
      "j:n:N:I:a:d:kmXtv0qu jobs= max-args= arg-file= delimiter= colsep= keep-order will-cite halt= joblog= results= timeout= delay= bar progress dry-run null quote",
    rules: ["parallel"],
  },
  find: { is: ["namesFiles"], rules: ["find"] },
  gfind: { like: "find" },
  "fd fdfind": { rules: ["fd"] },

  "sh bash dash zsh ksh mksh ash fish csh tcsh rbash yash posh bash5 sash hush osh": { rules: ["shell"] },
  "elvish xonsh": { rules: ["shell"], stdinCode: /^/ },
  "nu red groovysh": { stdinCode: /^/ },
  "dircolors tset resize lesspipe register-python-argcomplete": { printsCode: /^--?\w/ },
  tmux: { options: "c:f:L:S:2CDluvNV", rules: ["tmux"] },
  screen: { options: "c:e:h:p:r:s:S:t:T:X:x:ADdmLlnOqRUv", rules: ["screen"] },
  "busybox toybox shx": { rules: ["multiCall"] },
  "ld.so ld-linux ld-linux-x86-64.so ld-musl ld64.so": {
    options: "- library-path= preload= audit= argv0= inhibit-rpath= inhibit-cache list verify help version",
    rules: ["loader"],
  },
  "start-stop-daemon": {
    options: "x:a:p:n:u:c:d:SKbmo exec= startas= pidfile= name= user= chuid= chdir= start stop background make-pidfile",
    runs: "exec x startas a",
  },
};
