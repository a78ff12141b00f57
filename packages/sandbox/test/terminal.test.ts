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
  /** The texts of the results, one for each command. */
  const run = async (name: string, commands: string[]): Promise<string[]> => {
    const [project = ""] = await createProjects(base, user, [name]);
    const session = { ...inProject(project), helper: base.helper!, commands };
    const [results = []] = await runSessions({ base, user }, [session]);
    return results.map(({ text }) => text);
  };

  testInTurn(
    `a shell on a terminal keeps its state, has the size of its screen and is in the sandbox, as ${user}`,
    async ({ skip }) => {
      skip(base.helper === undefined, "There is no C compiler: TERMINALS ARE NOT TESTED.");
      const texts = await run("terminal-shell", [
        "%PS1='$ ' bash --norc",
        ">cd /tmp; x=1<enter>",
        ">tty; stty size; echo $PWD $x $TERM; cat ~/../agent/x<enter>",
        "><80x24>stty size<enter>",
        ">exit 3<enter>",
      ]);
      expect(texts[0]).toMatch(
        /^\[Screen of 120x40, cursor in line 1, column 3, bash reads\]\n\$\n\n\[Job 1 is running on a/,
      );
      expect(texts[2]).toMatch(/\n\/dev\/pts\/\d+\n40 120\n\/tmp 1 xterm\ncat: .*agent\/x: No such file/);
      expect(texts[3]).toMatch(/^\[Screen of 80x24,/);
      expect(texts[3]).toContain("\n24 80\n");
      expect(texts[4]).toMatch(/\[Job 1 has ended\. Command exited with code 3\.\]$/);
    },
  );

  testInTurn(`what hides its input gets nothing but the keys to leave it, as ${user}`, async ({ skip }) => {
    skip(base.helper === undefined, "There is no C compiler: TERMINALS ARE NOT TESTED.");
    const texts = await run("terminal-hidden", [
      "%PS1='$ ' bash --norc",
      ">read -s x<enter>",
      ">secret<enter>",
      "><enter>",
      "><ctrl-c>",
      ">(stty -echo; head -1 >got)<enter>",
      ">secret<enter>",
      "><ctrl-c>",
      ">stty echo; printf 'left: %s' \"$x\"; cat got<enter>",
    ]);
    for (const index of [2, 3, 6]) expect(texts[index]).toMatch(/^The program hides what is typed, as for a password/);
    expect(texts.at(-1)).toMatch(/\nleft: \$/);
    expect(texts.join("")).not.toMatch(/^secret/m);
  });

  testInTurn(`programs that draw on the whole screen are shown as they look, as ${user}`, async ({ skip }) => {
    skip(base.helper === undefined, "There is no C compiler: TERMINALS ARE NOT TESTED.");
    const missing = ["python3", "less", "git"].filter((name) => findProgram(name, "/nowhere") === undefined);
    skip(missing.length > 0, `There is no ${missing.join(" and no ")} here.`);
    const texts = await run("terminal-programs", [
      "%/usr/bin/env python3 -i -q",
      ">def f(n):\n    return n * 2\n\nf(21)\n",
      ">exit()<enter>",
      "%seq 1 500 | less",
      "><pagedown>/250<enter>",
      ">q",
      "%echo more >>a.txt; GIT_EDITOR=vi git commit -a",
      ">iA subject<esc>",
      ">:wq<enter>",
      "git log -1 --format=%s",
    ]);
    expect(texts[1]).toMatch(/python[\d.]* reads\][^]*\n42\n>>>\n/);
    expect(texts[2]).toContain("has ended. Command exited with code 0");
    expect(texts[3]).toMatch(/less reads\]\n1\n2\n[^]*\n39\n:/);
    expect(texts[4]).toMatch(/\]\n250\n251\n/);
    expect(texts[5]).toContain("has ended. Command exited with code 0");
    expect(texts[6]).toMatch(/# Please enter the commit message/);
    expect(texts[7]).toMatch(/\]\nA subject\n/);
    expect(texts[9]).toBe("A subject");
  });

  testInTurn(`hostile programs neither block nor leave anything, as ${user}`, async ({ skip }) => {
    skip(base.helper === undefined, "There is no C compiler: TERMINALS ARE NOT TESTED.");
    const sleep = `3600.${process.pid}${users.indexOf(user)}`;
    const texts = await run("terminal-hostile", [
      "%yes $(head -c 200 /dev/zero | tr '\\0' x) | head -c 4000000; echo done; cat",
      "><ctrl-c>",
      "%(setsid sleep " + sleep + " &) ; exec 0<&- 1>&- 2>&-; sleep 1; exec >/dev/tty; echo back; sleep " + sleep,
      "><ctrl-c>",
      "%printf '\\033]0;title\\007\\033P1;1qxx\\033\\\\\\033[6n\\033[c\\033[999999999;99999999Hx\\033[2J\\033[Hshown \\342\\200\\256left \\302\\233'; cat",
      "><ctrl-c>",
      "%stty raw -echo; kill -9 $PPID; echo alive; exit",
      // The end of the first process hangs its terminal up, but who opens it again may print on.
      "%t=$(tty); (trap '' HUP; while :; do yes on >$t; done) & echo ended",
      "><enter>",
      "%t=$(tty); (trap '' HUP; while sleep 0.01; do echo on >$t; done) & echo ended",
      "><enter>",
    ]);
    expect(texts[0]).toMatch(/^\[Screen of 120x40/);
    expect(texts[0]!.length).toBeLessThan(12_000);
    expect(texts[2]).toContain("Job 2 is running");
    expect(texts[4]).toMatch(/\nshown <U\+202E>left/);
    expect(texts[4]).not.toContain("title");
    expect(texts[4]).not.toContain("\x1b");
    for (const index of [8, 10]) expect(texts[index]).toContain("has ended. Command exited with code 0");
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
