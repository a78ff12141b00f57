/** The rules of `robots.txt` (RFC 9309). Pure. */

interface Rule {
  readonly isAllowed: boolean;
  readonly path: string;
}

/** The name by which rules can name us. */
const agentName = "tau";
const maxRules = 5_000;
const maxPattern = 500;

/** Whether a path with its query may be read. The longest rule that matches applies, and of two equally long ones the one that allows. */
export function isAllowedByRobots(text: string, path: string): boolean {
  const groups = parseGroups(text);
  const rules = groups.get(agentName) ?? groups.get("*") ?? [];
  let best: Rule | undefined;
  for (const rule of rules) {
    if (!matchesPath(rule.path, path)) continue;
    if (!best || rule.path.length > best.path.length || (rule.path.length === best.path.length && rule.isAllowed))
      best = rule;
  }
  return best?.isAllowed ?? true;
}

/** The rules by the names of agents. Several groups for one name are one. */
function parseGroups(text: string): Map<string, Rule[]> {
  const groups = new Map<string, Rule[]>();
  let agents: string[] = [];
  let isNaming = false;
  let count = 0;
  for (const line of text.replace(/^\ufeff/, "").split(/\r\n?|\n/)) {
    const [, field = "", value = ""] = /^\s*([A-Za-z-]+)\s*:\s*([^#]*)/.exec(line) ?? [];
    const name = field.toLowerCase();
    if (name === "user-agent") {
      if (!isNaming) agents = [];
      isNaming = true;
      const agent = value.trim().toLowerCase().split("/")[0]!;
      agents.push(agent);
      if (!groups.has(agent)) groups.set(agent, []);
    } else if (name === "allow" || name === "disallow") {
      isNaming = false;
      const path = value.trim();
      if (path === "" || path.length > maxPattern || ++count > maxRules) continue;
      for (const agent of agents) groups.get(agent)!.push({ isAllowed: name === "allow", path });
    }
  }
  return groups;
}

/** `*` is any text, `$` the end. Each part is looked for from where the last one ended, so the time is that of the path. */
function matchesPath(pattern: string, path: string): boolean {
  const isWhole = pattern.endsWith("$");
  const [first = "", ...parts] = (isWhole ? pattern.slice(0, -1) : pattern).split("*");
  if (!path.startsWith(first)) return false;
  let position = first.length;
  for (const [index, part] of parts.entries()) {
    if (isWhole && index === parts.length - 1) return path.length - part.length >= position && path.endsWith(part);
    const found = path.indexOf(part, position);
    if (found === -1) return false;
    position = found + part.length;
  }
  return !isWhole || position === path.length;
}
