/** Sockets through which a program starts anything with the rights of root: those of Docker and its like. */
import { report, type Scope } from "../shell/analysis.ts";

const socket =
  /(?:^|[/:=,@"'\s]|%2F)(?:docker|docker-cli|podman|containerd|crio|cri-dockerd|buildkitd|dockershim|lxd\/unix|incus\/unix)\.(?:sock|socket)(?![\w.-])/i;

/** Whether a text names such a socket, also in an address such as `http+unix://%2Frun%2Fdocker.sock`. */
export const namesContainerSocket = (text: string): boolean => socket.test(text);

/** Reports a request to such a socket. `changes`: it may start or change something, so that the machine is in its hands. */
export function judgeContainerSocket(texts: readonly string[], scope: Scope, changes: boolean): void {
  const name = texts.find(namesContainerSocket);
  if (name === undefined) return;
  const tier = changes ? "critical" : "high";
  report(scope, tier, "privilege_escalation", `It speaks to ${name.slice(0, 80)}, which may start anything as root.`);
}
