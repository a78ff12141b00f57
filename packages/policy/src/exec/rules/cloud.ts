/** Command-line clients of services that the person is signed in to: what they copy and change there. */
import { getOperands, hasArg, type Judge } from "./invocation.ts";
import { parseOptions } from "./options.ts";
import { report } from "../shell/analysis.ts";
import { joinOrigins, type Text } from "../shell/text.ts";
import { isRemote } from "./delete.ts";
import { judgeSent, judgeUpload } from "./network.ts";

const isBucket = (text: string) => /^(?:s3|gs|az|b2|r2|oss|cos|https?):\/\//.test(text);

/** `aws s3 cp FILE s3://BUCKET`. */
export const awsCopy: Judge = ({ args, program }, scope) => {
  const [service, verb, from, to] = getOperands(parseOptions(args, program).operands);
  if (service?.text !== "s3" || !/^(?:cp|mv|sync)$/.test(verb?.text ?? "")) return;
  if (from && to && isBucket(to.text) && !isBucket(from.text)) judgeUpload(from, scope, `to ${to.text}`);
  else report(scope, "medium", "exfiltration", "It copies data of the cloud.");
};

export const gcloud: Judge = ({ name, args }, scope) => {
  const words = getOperands(args);
  const text = words.map((word) => word.text).join(" ");
  // A configuration of credentials says where to ask for them, and holds none.
  const onlyReads =
    /^(?:auth (?:list|print-|application-default print)|(?:iam|ad|role|keyvault) .*\b(?:list|describe|show|download|create-cred-config)(?: |$)|keyvault list)/.test(
      text,
    );
  if (/^(?:auth|login|logout|iam|ad|keyvault|role) ?/.test(text) && !onlyReads)
    report(scope, "high", "credential_change", `${name} changes stored logins.`);
  else if (/(?:storage|blob|cp|rsync|upload)/.test(text)) {
    const [from, to] = words.filter((word) => /[/.]/.test(word.text));
    if (from && to && isBucket(to.text) && !isBucket(from.text)) judgeUpload(from, scope, `to ${to.text}`);
    else if (/upload/.test(text)) report(scope, "high", "exfiltration", "It uploads data to the cloud.");
  }
};

export const copyCloud: Judge = ({ name, args }, scope) => {
  const [verb, from, to] = getOperands(args);
  if (/^(?:config|authorize)$/.test(verb?.text ?? ""))
    report(scope, "high", "credential_change", `${name} changes stored logins.`);
  else if (
    /^(?:copy|sync|move|copyto|moveto|cp|put|mirror|rsync|mv|upload-file|upload)$/.test(verb?.text ?? "") &&
    from
  ) {
    const isUpload = to === undefined || isRemote(to.text) || isBucket(to.text) || /^\w+\//.test(to.text);
    if (isUpload && !isRemote(from.text)) judgeUpload(from, scope, `to ${to?.text ?? "the cloud"}`);
  } else if (/^(?:serve|mount)$/.test(verb?.text ?? ""))
    report(scope, "medium", "exfiltration", `${name} shares files.`);
};

/** `gh api graphql -f query=…` only reads, unless it asks for a mutation. */
const isQuery = (args: readonly Text[]) =>
  args.some(({ text }) => text === "graphql") && args.every(({ text }) => !/\bmutation\b|=@|^--input/.test(text));

export const gh: Judge = ({ name, args }, scope) => {
  const words = getOperands(args);
  const [area, verb] = words.map(({ text }) => text);
  const call = `${area} ${verb ?? ""}`.trim();
  if (/^(?:gist (?:create|edit)|snippet create)/.test(call)) {
    for (const file of words.slice(2)) judgeUpload(file, scope, `to ${name}`);
    report(scope, "high", "exfiltration", `${name} ${call} publishes data.`);
  } else if (
    /^(?:auth (?:login|logout|refresh|setup-git|switch)|secret (?:set|delete)|ssh-key (?:add|delete)|gpg-key (?:add|delete)|variable set|deploy-key add|ruleset)/.test(
      call,
    )
  )
    report(scope, "high", "credential_change", `${name} ${call} changes credentials.`);
  else if (/^(?:alias set|extension (?:install|create|upgrade))/.test(call))
    report(scope, "high", "persistence", `${name} ${call} changes what later calls run.`);
  else if (/^(?:repo|release|project|codespace|cache) delete/.test(call))
    report(scope, "high", "recursive_delete", `${name} ${call} deletes what others use.`);
  else if (
    /^(?:release (?:create|upload|edit|delete)|repo (?:create|fork|sync|edit|rename|archive)|pr (?:create|merge|comment|close|review|edit|ready)|issue (?:create|comment|close|edit|delete)|workflow (?:run|enable|disable)|mr )/.test(
      call,
    )
  ) {
    report(scope, "medium", "exfiltration", `${name} ${call} changes something that others see.`);
    judgeSent(joinOrigins(args), scope, `with ${name}`);
  } else if (area === "api" && !isQuery(args) && hasArg(args, /^(?:-X|--method|-f|-F|--field|--raw-field|--input)/))
    report(
      scope,
      hasArg(args, /^(?:-X|--method=?)?DELETE$/i) ? "high" : "medium",
      "exfiltration",
      `${name} api sends data.`,
    );
};
