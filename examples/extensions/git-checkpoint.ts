/**
 * Before each prompt, the files that git tracks are saved as a commit that is on no branch. `/checkpoint` lists these, and
 * puts the files back as they were before one of the prompts. Files that git does not track are neither saved nor touched.
 */
import type { ExtensionAPI, ExtensionCommandContext } from "@tau/extensions";

interface Checkpoint {
  commit: string;
  prompt: string;
}

const entryType = "git-checkpoint";

export default function gitCheckpoint(tau: ExtensionAPI): void {
  const git = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await tau.exec("git", args, { timeout: 10_000 });
    if (code !== 0) throw new Error(`git ${args[0]} failed: ${stderr.trim()}`);
    return stdout.trim();
  };
  /** A commit of the files as they are now. Nothing that the user sees of the repository changes. */
  const save = async (): Promise<string> => (await git("stash", "create")) || (await git("rev-parse", "HEAD"));

  tau.on("before_agent_start", async (event, { sessionManager }) => {
    const { code } = await tau.exec("git", ["rev-parse", "--verify", "--quiet", "HEAD"]);
    if (code !== 0) return;
    const commit = await save();
    // Without a name, git would remove the commit some day.
    await git("update-ref", `refs/tau/${sessionManager.getSessionId()}/${commit}`, commit);
    const prompt = event.messageType === "user" ? event.prompt : "a message";
    tau.appendEntry(entryType, { commit, prompt } satisfies Checkpoint);
  });

  tau.registerCommand("checkpoint", {
    description: "Put the files back as they were before a prompt",
    async handler(_args, context) {
      await context.waitForIdle();
      const checkpoints = listCheckpoints(context);
      const labels = checkpoints.map(({ prompt }, index) => `${index + 1}. before: ${prompt.split("\n")[0]}`);
      if (labels.length === 0) return context.ui.notify("There is no checkpoint.", "warning");
      const answer = await context.ui.select("Put the files back to", labels.toReversed());
      const chosen = checkpoints[labels.indexOf(answer ?? "")];
      if (!chosen) return;
      const before = await save();
      await git("restore", `--source=${chosen.commit}`, "--worktree", "--", ":/");
      context.ui.notify(
        `The files are as they were before: ${chosen.prompt}\nTo undo that: git checkout ${before} -- .`,
      );
    },
  });
}

const listCheckpoints = ({ sessionManager }: ExtensionCommandContext): Checkpoint[] =>
  sessionManager
    .getBranch()
    .flatMap((entry) => (entry.type === "custom" && entry.customType === entryType ? [entry.data as Checkpoint] : []));
