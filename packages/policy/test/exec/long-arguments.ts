/** Commands with long arguments that repeat the beginning of what rules look for. */

const repeat = (text: string) => text.repeat(Math.floor(60_000 / text.length));

export const longArguments: readonly string[] = [
  `sqlite3 a.db '${repeat("\n")}'`,
  `sqlite3 a.db '${repeat(" .shel\n")}'`,
  `psql -c '${repeat("drop ")}'`,
  `psql -c '${repeat("truncate  ")}'`,
  `cc ${repeat("-out-")}`,
  `cc --${repeat("a_")}`,
  `terraform ${repeat("a-")}`,
  `apt ${repeat("install")}`,
  `python3 -c 'HOME ${repeat("a.")}'`,
  `python3 -c 'HOME ${repeat("a::")}'`,
  `python3 -c '${repeat("{ os.environ[ ")}'`,
  `python3 -c '${repeat('join("a", ')}'`,
  `python3 -c '${repeat('"a" + ')}'`,
  `ruby -e '${repeat("#{ENV[")}HOME'`,
  `perl -e '${repeat("$ENV{ ")}HOME'`,
  `perl -e '${repeat("q(")}'`,
  `ruby -e '${repeat("%w[")}'`,
  `make -f - <<< '${repeat(":")}'`,
  `vim -c '${repeat("system(")}'`,
  `vim -c '${repeat("shell-command ")}'`,
  `python3 -c 'spawn __file__ ${repeat("def a")}'`,
  `node -e 'spawn __filename ${repeat("function a(")}'`,
  `python3 -c '${repeat("/proc ")} os.kill('`,
  `python3 -c 'socket "sh" ${repeat(".listen()")}'`,
  `nocache ${repeat("rm a ")}`,
  `nocache ${"nice nocache ".repeat(16)}`,
];
