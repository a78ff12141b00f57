/**
 * Which files may become part of a prompt: never credentials, of a project only what is really in it, and nothing that
 * another user put into a directory above it.
 */
import { dirname, join } from "node:path";
import { type FileSystem, isWithin, pathOfHandle, ToolsError } from "@tau/tools/platform";
import { orUndefined } from "@tau/tools/durable";
import { isShared } from "../files/text-file.ts";
import { isCredentialFile, findNamedCredentials } from "@tau/sandbox/internal";
import { ancestors } from "./context-files.ts";
import { getPathKind } from "./read-text.ts";

export interface ResourceDirectories {
  cwd: string;
  agentDir: string;
  home: string;
}

/**
 * The file system for resources: opening and listing fail with a `ToolsError` `denied` for what may not be read. A file is
 * opened first and checked afterwards, so that replacing a link in between gains nothing.
 */
export async function guardResources(fs: FileSystem, directories: ResourceDirectories): Promise<FileSystem> {
  const getRealPath = async (path: string) => (await orUndefined(fs.realpath(path))) ?? path;
  const { cwd, agentDir, home } = directories;
  const project = await findProject(fs, directories);
  const credentialHomes = {
    home: await getRealPath(home),
    agentDir: await getRealPath(agentDir),
    named: findNamedCredentials({ env: process.env, cwd, home }),
  };
  const isSharedProject = await isShared(fs, project);
  const isSharedAgentDir = await isShared(fs, agentDir);

  const checkOwner = async (path: string): Promise<void> => {
    const { uid } = await fs.lstat(path);
    const user = process.getuid?.() ?? uid;
    if (uid !== user && uid !== 0) {
      refuse(`This belongs to another user (id ${uid}) and is not read. If you want it, make a copy of your own.`);
    }
  };
  const check = async (path: string, realPath: string): Promise<void> => {
    if (isCredentialFile(realPath, credentialHomes)) {
      refuse(`This leads to ${realPath}, where credentials are kept, and is not read. Remove it.`);
    }
    if (isWithin(agentDir, path) && isSharedAgentDir) return await checkOwner(path);
    if (isWithin(agentDir, path) || isWithin(join(home, ".agents"), path)) return;
    const isProject = isWithin(project, path);
    // All other paths were named by the user.
    if (!isProject && !isWithin(dirname(path), cwd)) return;
    const directory = isProject ? project : dirname(path);
    if (!isWithin(await getRealPath(directory), realPath)) {
      refuse(`This leads to ${realPath}, outside of ${directory}, and is not read. Put a copy in its place.`);
    }
    if (!isProject || isSharedProject) await checkOwner(path);
  };

  return {
    ...fs,
    async open(path, flags, mode) {
      const handle = await fs.open(path, flags, mode);
      try {
        await check(path, await pathOfHandle({ fs }, handle, path));
        return handle;
      } catch (error) {
        await handle.close();
        throw error;
      }
    },
    async readdir(path) {
      await check(path, await fs.realpath(path));
      return await fs.readdir(path);
    },
  };
}

function refuse(reason: string): never {
  throw new ToolsError("denied", reason);
}

/**
 * The top of the repository that the working directory is in, else the working directory. A repository of the home
 * directory or above it is not a project: it would contain all others.
 */
export async function findProject(
  fs: FileSystem,
  { cwd, home }: Omit<ResourceDirectories, "agentDir">,
): Promise<string> {
  for (const directory of ancestors(cwd).toReversed()) {
    if (isWithin(directory, home)) break;
    if ((await getPathKind(fs, join(directory, ".git"))) !== undefined) return directory;
  }
  return cwd;
}
