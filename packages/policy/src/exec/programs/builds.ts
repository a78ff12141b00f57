/** Build tools, compilers, and programs that publish what was built. */
import type { Programs } from "./program.ts";

const mavenDeploys = /(?:^|[ :])deploy(?::deploy(?:-file)?)?(?: |$)|(?:^|[ :])release:perform(?: |$)/;

export const builds: Programs = {
  "make gmake": {
    options:
      "C:f:j:l:o:W:I:E:BeiknpqrRstvw eval= file= makefile= directory= include-dir= jobs=? load-average=? dry-run always-make keep-going silent question touch print-data-base environment-overrides",
    rules: ["make"],
  },
  cmake: { options: "B:S:D:G:P:C:j: install= build= prefix= target= config=", rules: ["cmake"] },
  "ninja samu": { installs: { words: /^(?:\S+ )*(?:un)?install(?: |$)/ } },
  meson: { installs: { words: /^install\b/, into: ["destdir"] } },
  bazel: { options: "- run_under= config= output_base=", runs: "run_under" },
  "gcc g++ cc c++": { rules: ["gcc"] },
  "java javaw": { rules: ["java"] },
  "kotlin mono wine": { rules: ["runReceived"] },
  "mvn mvnw": { rules: ["maven"], publishes: mavenDeploys },
  mvnd: { rules: ["maven"] },
  "gradle gradlew": {
    publishes: /(?:^|[ :])(?:publish(?!\w*ToMavenLocal)\w*|uploadArchives|closeAndRelease\w*)(?: |$)/,
  },
  sbt: { publishes: /(?:^|[ +/;])(?:publish|publishSigned|release|sonatype\w*Release|ci-release)(?: |$)/ },
  "lein boot": { publishes: /^deploy\b/ },
  dotnet: {
    rules: ["runReceived"],
    installs: {
      words: /^workload (?:install|update)\b|^tool (?:install|uninstall|update) .*(?:-g|--global)\b/,
      into: ["tool-path"],
    },
    publishes: /^nuget (?:push|delete)\b/,
  },
  nuget: { publishes: /^(?:push|delete)\b/i },
  mix: {
    installs: { words: /^(?:archive|escript)\.(?:install|uninstall)\b/ },
    publishes: /^hex\.(?:publish|retire|owner)\b/,
  },
  rebar3: { publishes: /^hex (?:publish|retire)\b/ },
  cabal: { installs: { words: /^install\b/, into: ["installdir"] }, publishes: /^upload\b/ },
  stack: {
    installs: { words: /^(?:install|build .*--copy-bins)\b/, into: ["local-bin-path"] },
    publishes: /^upload\b/,
  },
  conan: { publishes: /^upload\b/ },
  pod: { publishes: /^trunk (?:push|delete|deprecate|add-owner)\b/ },
  "dart flutter": { publishes: /^(?:pub )?publish\b/ },
  lerna: { rules: ["runInside"], publishes: /^publish\b/ },
  "changeset jsr vsce ovsx": { publishes: /^publish\b/ },
  "goreleaser release-plz": { publishes: /^release\b/ },
  "cpan-upload semantic-release release-it np": { publishes: "always" },
};
