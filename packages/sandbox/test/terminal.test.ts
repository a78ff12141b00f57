/** Tests terminals in the sandbox, with real programs. */
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { findProgram } from "../src/programs.ts";
import {
  type Base,
  createBase,
  createProjects,
  inProject,
  removeBase,
  runSessions,
  startRunner,
  takeTurns,
  users,
} from "./kit.ts";

let base: Base;
beforeAll(async () => {
  base = await createBase();
});
afterAll(() => removeBase(base));

const listProcesses = (word: string) =>
  readdirSync("/proc").filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(word);
    } catch {
      return false;
    }
  });

for (const user of users) {
  const testInTurn = takeTurns(user, 0);
  /** The texts of the results, one for each step. What a step's terminal must show is waited for. */
  const run = async (
    name: string,
    steps: readonly (string | [command: string, shows: RegExp])[],
  ): Promise<string[]> => {
    const [project = ""] = await createProjects(base, user, [name]);
    const commands = steps.map((step) => (typeof step === "string" ? step : step[0]));
    const awaited = steps.map((step, index) => [index, typeof step === "string" ? "" : step[1].source] as const);
    const session = { ...inProject(project), helper: base.helper!, commands, screens: Object.fromEntries(awaited) };
    const [results = []] = await runSessions({ base, user }, [session]);
    for (const [index, shows] of awaited) expect(results[index]!.text).toMatch(new RegExp(shows));
    return results.map(({ text }) => text);
  };
  const ended = /has ended\. Command exited with code 0/;

  testInTurn(
    `a shell on a terminal keeps its state, has the size of its screen and is in the sandbox, as ${user}`,
    async ({ skip }) => {
      skip(base.helper === undefined, "There is no C compiler: TERMINALS ARE NOT TESTED.");
      await run("terminal-shell", [
        [
          "%PS1='$ ' bash --norc",
          /^\[Screen of 120x40, cursor in line 1, column 3, bash reads\]\n\$\n\n\[Job 1 is running on a/,
        ],
        [">cd /tmp; x=1<enter>", /x=1\n\$\n/],
        [
          ">tty; stty size; echo $PWD $x $TERM; cat ~/../agent/x<enter>",
          /\n\/dev\/pts\/\d+\n40 120\n\/tmp 1 xterm\ncat: .*agent\/x: No such file/,
        ],
        ["><80x24>stty size<enter>", /^\[Screen of 80x24,[^]*\n24 80\n/],
        [">exit 3<enter>", /\[Job 1 has ended\. Command exited with code 3\.\]$/],
      ]);
    },
  );

  testInTurn(`what hides its input gets nothing but the keys to leave it, as ${user}`, async ({ skip }) => {
    skip(base.helper === undefined, "There is no C compiler: TERMINALS ARE NOT TESTED.");
    const hidden = /^The program hides what is typed, as for a password/;
    const texts = await run("terminal-hidden", [
      ["%PS1='$ ' bash --norc", /\n\$\n/],
      [">read -s x; echo<enter>", /read -s x/],
      [">secret<enter>", hidden],
      "><enter>",
      "><ctrl-c>",
      [">(stty -echo; head -1 >got)<enter>", /head reads/],
      [">secret<enter>", hidden],
      ["><ctrl-c>", /bash reads/],
      [">stty echo; printf 'left: %s' \"$x\"; cat got<enter>", /\nleft: \$/],
    ]);
    expect(texts.join("")).not.toMatch(/^secret/m);
  });

  testInTurn(`programs that draw on the whole screen are shown as they look, as ${user}`, async ({ skip }) => {
    skip(base.helper === undefined, "There is no C compiler: TERMINALS ARE NOT TESTED.");
    const missing = ["python3", "less", "git"].filter((name) => findProgram(name, "/nowhere") === undefined);
    skip(missing.length > 0, `There is no ${missing.join(" and no ")} here.`);
    const texts = await run("terminal-programs", [
      ["%/usr/bin/env python3 -i -q", /\n>>>\n/],
      [">def f(n):\n    return n * 2\n\nf(21)\n", /python[\d.]* reads\][^]*\n42\n>>>\n/],
      [">exit()<enter>", ended],
      ["%seq 1 500 | less", /less reads\]\n1\n2\n[^]*\n39\n:/],
      ["><pagedown>/250<enter>", /\]\n250\n251\n/],
      [">q", ended],
      ["%echo more >>a.txt; GIT_EDITOR=vi git commit -a", /# Please enter the commit message/],
      [">iA subject<esc>", /\]\nA subject\n/],
      [">:wq<enter>", ended],
      "git log -1 --format=%s",
    ]);
    expect(texts[9]).toBe("A subject");
  });

  testInTurn(`hostile programs neither block nor leave anything, as ${user}`, async ({ skip }) => {
    skip(base.helper === undefined, "There is no C compiler: TERMINALS ARE NOT TESTED.");
    const sleep = `3600.${process.pid}${users.indexOf(user)}`;
    const texts = await run("terminal-hostile", [
      ["%yes $(head -c 200 /dev/zero | tr '\\0' x) | head -c 4000000; echo done; cat", /^\[Screen of 120x40/],
      "><ctrl-c>",
      [
        "%(setsid sleep " + sleep + " &) ; exec 0<&- 1>&- 2>&-; sleep 1; exec >/dev/tty; echo back; sleep " + sleep,
        /Job 2 is running/,
      ],
      "><ctrl-c>",
      [
        "%printf '\\033]0;title\\007\\033P1;1qxx\\033\\\\\\033[6n\\033[c\\033[999999999;99999999Hx\\033[2J\\033[Hshown \\342\\200\\256left \\302\\233'; cat",
        /\nshown <U\+202E>left/,
      ],
      "><ctrl-c>",
      "%stty raw -echo; kill -9 $PPID; echo alive; exit",
      // The end of the first process hangs its terminal up, but who opens it again may print on.
      ["%t=$(tty); (trap '' HUP; while :; do yes on >$t; done) & echo ended", ended],
      ["%t=$(tty); (trap '' HUP; while sleep 0.01; do echo on >$t; done) & echo ended", ended],
    ]);
    expect(texts[0]!.length).toBeLessThan(12_000);
    expect(texts[4]).not.toContain("title");
    expect(texts[4]).not.toContain("\x1b");
    expect(listProcesses(sleep)).toEqual([]);
  });

  testInTurn(`nothing is left of a terminal when the harness is killed, as ${user}`, async ({ skip }) => {
    skip(base.helper === undefined, "There is no C compiler: TERMINALS ARE NOT TESTED.");
    const [project = ""] = await createProjects(base, user, ["terminal-killed"]);
    const sleep = `3601.${process.pid}${users.indexOf(user)}`;
    const commands = [`%(trap '' HUP; setsid sleep ${sleep} &) ; sleep ${sleep}`];
    const session = { ...inProject(project), helper: base.helper!, stays: true, commands };
    const child = startRunner({ base, user }, [session]);
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout!, "data");
    expect(listProcesses(sleep).length).toBeGreaterThan(1);
    child.kill("SIGKILL");
    await once(child, "exit");
    await expect.poll(() => listProcesses(sleep)).toEqual([]);
  });
}
