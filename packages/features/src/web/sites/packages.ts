/** Packages of npm and PyPI. */
import { asRecord } from "@tau/ai/internal";
import { joinParts, listFacts, safePart, type SiteReader } from "./site.ts";

export const readNpm: SiteReader = (url) => {
  if (!/^(?:www\.)?npmjs\.com$/.test(url.hostname)) return undefined;
  const match = /^\/package\/((?:@[\w.~-]+\/)?[\w.~-]+)(?:\/v\/([\w.+-]+))?\/?$/.exec(url.pathname);
  if (!match) return undefined;
  const [, name = "", version = "latest"] = match;
  return {
    urls: [`https://registry.npmjs.org/${name.replace("/", "%2f")}/${version}`],
    read([body = ""]) {
      const {
        version: current,
        description,
        license,
        homepage,
        repository,
        dependencies,
        engines,
        deprecated,
      } = asRecord(JSON.parse(body));
      const facts = listFacts({
        version: current,
        license,
        homepage,
        repository: asRecord(repository)["url"],
        node: asRecord(engines)["node"],
        deprecated,
      });
      const needed = Object.entries(asRecord(dependencies)).map(([each, range]) => `- ${each} ${String(range)}`);
      return {
        title: name,
        text: joinParts([
          `# ${name}`,
          typeof description === "string" ? description : "",
          facts,
          needed.length > 0 ? `## Dependencies\n\n${needed.join("\n")}` : "",
        ]),
      };
    },
  };
};

export const readPyPi: SiteReader = (url) => {
  if (url.hostname !== "pypi.org") return undefined;
  const [kind, name = "", version] = url.pathname.split("/").filter(Boolean);
  if (kind !== "project" || !safePart.test(name) || (version !== undefined && !safePart.test(version)))
    return undefined;
  return {
    urls: [`https://pypi.org/pypi/${name}/${version === undefined ? "" : `${version}/`}json`],
    read([body = ""]) {
      const info = asRecord(asRecord(JSON.parse(body))["info"]);
      if (typeof info["name"] !== "string") throw new TypeError("It is no package.");
      const {
        name: title,
        version: current,
        summary,
        description,
        license,
        requires_python: python,
        requires_dist: needs,
      } = info;
      const links = Object.entries(asRecord(info["project_urls"])).map(([each, link]) => `- ${each}: ${String(link)}`);
      const needed = Array.isArray(needs) ? needs.map((each) => `- ${String(each)}`) : [];
      return {
        title,
        text: joinParts([
          `# ${title}`,
          typeof summary === "string" ? summary : "",
          listFacts({ version: current, license, python }),
          links.join("\n"),
          needed.length > 0 ? `## Dependencies\n\n${needed.join("\n")}` : "",
          typeof description === "string" ? description : "",
        ]),
      };
    },
  };
};
