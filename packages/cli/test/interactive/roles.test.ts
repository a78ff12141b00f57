import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "vitest";
import { type ModelWorkspace, textReply } from "../kit.ts";
import { openApp, type OpenedApp } from "./kit.ts";

const writeRoles =
  (roles: object) =>
  ({ agentDir }: ModelWorkspace): Promise<void> =>
    writeFile(join(agentDir, "settings.json"), JSON.stringify({ defaultModel: "acme/small", roles }));

const run = (app: OpenedApp, command: string) => {
  app.type(command);
  app.press("escape", "enter");
};

test("/role and /model choose a role, which is shown beside its model", async () => {
  const app = await openApp([textReply("Hello.")], { prepare: writeRoles({ slow: "acme/large" }), columns: 120 });
  run(app, "/role slow");
  await app.sees(/large \(@slow\)( · \w+)?$/m);
  run(app, "/role");
  await app.sees(/slow +acme\/large/);
  await app.sees(/smol +the default model/);
  app.press("escape");
  run(app, "/model");
  await app.sees(/@slow +acme\/large/);
  app.type("acme/small");
  app.press("enter");
  await app.sees(/small( · \w+)?$/m);
  run(app, "/model @slow");
  await app.sees(/large \(@slow\)( · \w+)?$/m);
  run(app, "/role fast");
  await app.sees('There is no role "fast"');
});

test("Alt-R goes through the roles that have a model, and says what is missing without any", async () => {
  const app = await openApp([], { prepare: writeRoles({ slow: "acme/large" }), columns: 120 });
  app.press("altR");
  await app.sees(/large \(@slow\)( · \w+)?$/m);
  app.press("altR");
  await app.sees(/small \(@default\)( · \w+)?$/m);
  const none = await openApp([], {});
  none.press("altR");
  await none.sees(/Neither of the roles smol and slow has a model/);
});
