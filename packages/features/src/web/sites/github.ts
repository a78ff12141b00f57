/** GitHub: files, issues, pull requests and releases, by its public interface. */
import { asRecord, isRecord } from "@tau/ai/internal";
import { joinParts, listFacts, safePart, type SiteReader, type SiteRequest } from "./site.ts";

const api = "https://api.github.com/repos";

export const readGitHub: SiteReader = (url) => {
  if (url.hostname !== "github.com") return undefined;
  const [owner = "", repository = "", kind, ...rest] = url.pathname.split("/").slice(1);
  if (!safePart.test(owner) || !safePart.test(repository)) return undefined;
  const name = `${owner}/${repository}`;
  const [first = ""] = rest;
  switch (kind) {
    case "blob":
      return rest.length < 2 ? undefined : readFile(name, rest);
    case "issues":
    case "pull":
      return /^\d+$/.test(first) && rest.length === 1 ? readThread(name, kind, first) : undefined;
    case "releases":
      return readRelease(name, rest);
    default:
      return undefined;
  }
};

const readFile = (name: string, rest: readonly string[]): SiteRequest => ({
  urls: [`https://raw.githubusercontent.com/${name}/${rest.join("/")}`],
  read: ([text = ""]) => ({ title: `${name}: ${decodeURIComponent(rest.slice(1).join("/"))}`, text }),
});

const readThread = (name: string, kind: "issues" | "pull", number: string): SiteRequest => ({
  urls: [
    `${api}/${name}/${kind === "pull" ? "pulls" : "issues"}/${number}`,
    `${api}/${name}/issues/${number}/comments?per_page=100`,
  ],
  read([thread = "", comments = ""]) {
    const item = parseObject(thread);
    const list: unknown = JSON.parse(comments);
    const { title, state, body, created_at: created, labels, base, head, merged } = item;
    const names = Array.isArray(labels) ? labels.map((label) => asRecord(label)["name"]).join(", ") : "";
    const facts = listFacts({
      state: merged === true ? "merged" : state,
      author: getLogin(item),
      created,
      labels: names,
      branches: kind === "pull" ? `${getRef(head)} → ${getRef(base)}` : "",
      files: item["changed_files"],
    });
    const shown = Array.isArray(list) ? list.filter(isRecord) : [];
    const answers = shown.map(
      (comment) => `## ${getLogin(comment)}, ${toText(comment["created_at"])}\n\n${toText(comment["body"])}`,
    );
    const left = Number(item["comments"] ?? 0) - shown.length;
    const rest = left > 0 ? `[${left} more comments are not shown.]` : "";
    return {
      title: `${name}#${number}: ${toText(title)}`,
      text: joinParts([`# ${toText(title)}`, facts, toText(body), ...answers, rest]),
    };
  },
});

function readRelease(name: string, [kind, tag]: readonly string[]): SiteRequest | undefined {
  const path = kind === "latest" ? "latest" : kind === "tag" && tag !== undefined ? `tags/${tag}` : undefined;
  if (path === undefined) return undefined;
  return {
    urls: [`${api}/${name}/releases/${path}`],
    read([body = ""]) {
      const release = parseObject(body);
      const assets = Array.isArray(release["assets"]) ? release["assets"].filter(isRecord) : [];
      const title = toText(release["name"]) || toText(release["tag_name"]);
      const files = assets.map((asset) => `- [${toText(asset["name"])}](${toText(asset["browser_download_url"])})`);
      const facts = listFacts({ tag: release["tag_name"], published: release["published_at"] });
      return {
        title: `${name}: ${title}`,
        text: joinParts([
          `# ${title}`,
          facts,
          toText(release["body"]),
          files.length > 0 ? `## Files\n\n${files.join("\n")}` : "",
        ]),
      };
    },
  };
}

function parseObject(body: string): Record<string, unknown> {
  const value: unknown = JSON.parse(body);
  if (!isRecord(value)) throw new TypeError("It is not an object.");
  return value;
}

const toText = (value: unknown): string => (typeof value === "string" ? value : "");
const getLogin = (item: Readonly<Record<string, unknown>>): string => toText(asRecord(item["user"])["login"]);
const getRef = (branch: unknown): string => toText(asRecord(branch)["label"]);
