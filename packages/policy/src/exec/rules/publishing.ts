/** Programs that change what others install. Most build tools can do that, each by a word of its own. */
import { forNames, type Judge, type Judges } from "../programs/invocation.ts";
import { report } from "../shell/analysis.ts";

/** By the words that are no options. Without a pattern every call publishes. */
const publishes =
  (calls?: RegExp): Judge =>
  ({ name, args }, scope) => {
    const isTrial = /^(?:-n|--?(?:dry-?run|help|version|snapshot|list|check|info|skip-publish)(?:=.*)?)$/i;
    if (args.some(({ text }) => isTrial.test(text))) return;
    const words = args.flatMap(({ text }) => (text.startsWith("-") ? [] : [text])).join(" ");
    const call = calls ? calls.exec(words)?.[0].trim() : "";
    if (call !== undefined)
      report(scope, "high", "exfiltration", `${`${name} ${call}`.trim()} changes what others install.`);
  };

export const publishingRules: Judges = {
  yarn: publishes(/^npm (?:publish|tag (?:add|remove))\b/),
  ...forNames("lerna changeset jsr vsce ovsx", publishes(/^publish\b/)),
  deno: publishes(/^publish\b/),
  ...forNames("dart flutter", publishes(/^(?:pub )?publish\b/)),
  gem: publishes(/^(?:yank|owner)\b/),
  rake: publishes(/(?:^| )release(?::\w+)?(?: |$)/),
  mix: publishes(/^hex\.(?:publish|retire|owner)\b/),
  rebar3: publishes(/^hex (?:publish|retire)\b/),
  dotnet: publishes(/^nuget (?:push|delete)\b/),
  nuget: publishes(/^(?:push|delete)\b/i),
  ...forNames("mvn mvnw", publishes(/(?:^|[ :])deploy(?::deploy(?:-file)?)?(?: |$)|(?:^|[ :])release:perform(?: |$)/)),
  ...forNames(
    "gradle gradlew",
    publishes(/(?:^|[ :])(?:publish(?!\w*ToMavenLocal)\w*|uploadArchives|closeAndRelease\w*)(?: |$)/),
  ),
  sbt: publishes(/(?:^|[ +/;])(?:publish|publishSigned|release|sonatype\w*Release|ci-release)(?: |$)/),
  ...forNames("lein boot", publishes(/^deploy\b/)),
  ...forNames("cabal stack luarocks conan", publishes(/^upload\b/)),
  pod: publishes(/^trunk (?:push|delete|deprecate|add-owner)\b/),
  opam: publishes(/^publish\b/),
  ...forNames("goreleaser release-plz", publishes(/^release\b/)),
  ...forNames("python python2 python3", publishes(/(?:^|\/)setup\.py (?:.* )?upload\b/)),
  ...forNames("cpan-upload semantic-release release-it np", publishes()),
};
