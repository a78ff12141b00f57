/** Lists the sessions of a workspace. */
import { run, type Workspace } from "../kit.ts";

export const list = async (workspace: Workspace, ...flags: string[]) =>
  JSON.parse((await run(workspace, ["sessions", "list", "--json", ...flags])).out) as {
    id: string;
    path: string;
    name?: string;
  }[];

export const getIds = async (workspace: Workspace, ...flags: string[]) =>
  (await list(workspace, ...flags)).map(({ id }) => id);
