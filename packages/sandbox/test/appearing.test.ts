/** Credentials that a program outside stores while a command runs: the command does not see them, and the next one neither. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Base, createBase, createProjects, inProject, outside, removeBase, runSessions, users } from "./kit.ts";

let base: Base;
beforeAll(async () => {
  base = await createBase();
});
afterAll(() => removeBase(base));

/** Files whose directory exists, whose directory is new, and one that is replaced, as by `docker login`. */
const secrets = [
  ".aws/credentials",
  ".pgpass",
  ".config/gh/hosts.yml",
  ".docker/config.json",
  ".kube/config",
  ".netrc",
];
const read = `for f in ${secrets.join(" ")}; do cat ~/$f; done; cat ~/.aws/config ~/.config/gh/config.yml; ls -A ~ ~/link/`;

const setup = `mkdir -p ~/.aws ~/.config/gh ~/.kube ~/work; echo plain1 >~/.aws/config; echo plain2 >~/.config/gh/config.yml
  echo SECRET >~/.netrc; ln -s work ~/link; echo plain3 >~/work/file`;
const store = `cd ~; mkdir -p .docker new; for f in ${secrets.join(" ")}; do echo SECRET >draft; mv draft $f; done
  echo plain4 >new/file; echo plain5 >work/later; rm link; ln -s new link; touch $P/ws/stored`;

for (const user of users) {
  test(`what is stored in the home while a command runs is not seen by it, as ${user}`, async ({ skip }) => {
    skip(base.helper === undefined);
    const [project = ""] = await createProjects(base, user, ["appearing"]);
    const env = { P: project, HOME: join(project, "home") };
    await outside(user, setup, env);
    const commands = [
      `touch begun; until test -e stored; do sleep 0.02; done; ${read}; cat ~/work/later; grep -rs SECRET ~`,
      `${read}; cat ~/new/file; grep -rs SECRET ~`,
      "!rm -r ../home/new ../home/.kube; mkdir ../home/.kube; echo SECRET >../home/.kube/config; echo SECRET >../home/.my.cnf",
      `${read}; cat ~/.my.cnf; ls -d ~/new; grep -rs SECRET ~; touch ~/x ~/.aws/x`,
    ];
    const running = runSessions({ base, user }, [{ ...inProject(project), helper: base.helper!, env, commands }]);
    await expect.poll(() => existsSync(`${project}/ws/begun`)).toBe(true);
    await outside(user, store, env);
    const [results = []] = await running;
    const texts = results.map(({ text }) => text);
    for (const index of [0, 1, 3])
      expect([index, texts[index]]).toEqual([index, expect.not.stringContaining("SECRET")]);
    for (const index of [0, 1, 3])
      for (const word of ["plain1", "plain2"])
        expect([index, texts[index]]).toEqual([index, expect.stringContaining(word)]);
    // What is below a directory that was there is seen at once, and what is new in the home by the next command.
    expect(texts[0]).toContain("plain5");
    expect(texts[0]).not.toMatch(/^new$/m);
    expect(texts[1]).toMatch(/^new$/m);
    expect(texts[1]).toContain("plain4");
    expect(texts[3]).toMatch(/cannot access '\S*\/new'/);
    expect(texts[3]!.match(/Read-only/g)).toHaveLength(2);
  });
}

test("a home in which the workspace is can be used, and one that is the workspace is as it was", async ({ skip }) => {
  skip(base.helper === undefined || users.length === 0);
  const [user = "ordinary"] = users;
  const [project = "", other = ""] = await createProjects(base, user, ["above", "same"]);
  const commands = ["echo new >file; cat file; cd ..; ls; git -C ws status --short"];
  const sessions = [
    { ...inProject(project), home: project, helper: base.helper!, commands },
    { ...inProject(other), home: join(other, "ws"), helper: base.helper!, commands },
  ];
  const results = await runSessions({ base, user }, sessions);
  for (const [result] of results) expect(result!.text).toMatch(/^new\n[^]*^ws$[^]*^\?\? file$/m);
});
