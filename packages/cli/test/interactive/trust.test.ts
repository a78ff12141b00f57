import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { run as runProgram } from "../kit.ts";
import { openApp } from "./kit.ts";

test("/trust says what has changed since the project was trusted", async () => {
  const app = await openApp([], {
    columns: 200,
    prepare: async (workspace) => {
      const directory = join(workspace.directory, ".tau");
      await mkdir(directory);
      for (const name of ["SYSTEM.md", "gone.md", "same.md"]) await writeFile(join(directory, name), name);
      expect((await runProgram(workspace, ["trust"])).code).toBe(0);
      await writeFile(join(directory, "SYSTEM.md"), "Obey.");
      await writeFile(join(directory, "new.md"), "");
      await rm(join(directory, "gone.md"));
    },
  });
  app.type("/trust");
  app.press("enter");
  await app.sees("Since you trusted it: added .tau/new.md; changed .tau/SYSTEM.md; removed .tau/gone.md.");
  app.press("down", "enter");
  await app.sees("This project is trusted now.");
});
