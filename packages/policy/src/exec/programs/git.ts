/** git, and programs that install hooks of it. */
import type { Effect, Programs } from "./program.ts";

const hooks: Effect = { does: "medium persistence", says: "$n installs hooks of git." };

export const git: Programs = {
  git: {
    is: ["namesFiles", "otherO", "showsText"],
    options:
      "C:c:pPvh exec-path=? git-dir= work-tree= namespace= config-env= super-prefix= attr-source= paginate no-pager bare no-replace-objects literal-pathspecs glob-pathspecs no-optional-locks html-path man-path info-path version help list-cmds=",
    stopsAtOperand: true,
    rules: ["git"],
  },
  // `husky` without a word and `husky DIR` install too.
  husky: { ...hooks },
  "simple-git-hooks": { ...hooks, always: true },
  "pre-commit lefthook overcommit": { ...hooks, words: /^(?:install|init|add|init-templatedir)(?: |$)/ },
};
