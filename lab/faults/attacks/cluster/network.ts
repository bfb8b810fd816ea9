/** Three machines as a cluster sees them: a network namespace for each, with a cable to the others that can be pulled. */

/** The address of one machine. */
export interface Site {
  /** The command that runs a program on this machine. */
  readonly before: readonly string[];
  /** Its address among the nodes. */
  readonly address: string;
  /** Its address for clients, who reach it whatever is cut. */
  readonly outside: string;
  /** Pulls the cable to the other nodes, or puts it back. */
  cut(): void;
  join(): void;
}

interface Network {
  readonly sites: readonly Site[];
  remove(): void;
}

/** The reason why network namespaces are not available; null if they are. */
export function missingNamespaces(): string | null {
  if (process.getuid?.() !== 0 || Bun.which("ip") === null) return "only root can make networks";
  const name = `lf${process.pid}`;
  const made = tryIp("netns", "add", name) && tryIp("link", "add", name, "type", "bridge");
  tryIp("link", "del", name);
  tryIp("netns", "del", name);
  return made ? null : "this system lets nobody make networks";
}

/** Lays cables between so many machines: one from each to a switch, and one to where clients are. */
export function layNetwork(count: number): Network {
  const id = `lf${crypto.randomUUID().slice(0, 5)}`;
  // Addresses for measurements, which are nobody's (RFC 2544). The nodes' are seen by nobody else; those for clients are in
  // the tables of this machine, where other networks are laid at the same time: each takes sixteen of 65,536.
  const net = "198.18.0";
  const [third = 0, fourth = 0] = crypto.getRandomValues(new Uint8Array(2));
  const clientAddress = (number: number) => `198.19.${third}.${(fourth & 0xf0) + number}`;
  const ports = Array.from({ length: count }, (_, place) => ({ space: `${id}n${place}`, port: `${id}p${place}` }));
  ip("link", "add", id, "type", "bridge");
  ip("link", "set", id, "up");
  const sites = ports.map(({ space, port }, place): Site => {
    const inside = (...words: string[]) => ip("-n", space, ...words);
    const line = `${id}c${place}`;
    ip("netns", "add", space);
    inside("link", "set", "lo", "up");
    ip("link", "add", port, "type", "veth", "peer", "name", "nodes", "netns", space);
    ip("link", "set", port, "master", id, "up");
    inside("addr", "add", `${net}.${place + 1}/24`, "dev", "nodes");
    inside("link", "set", "nodes", "up");
    ip("link", "add", line, "type", "veth", "peer", "name", "clients", "netns", space);
    ip("addr", "add", `${clientAddress(place * 4 + 1)}/30`, "dev", line);
    ip("link", "set", line, "up");
    inside("addr", "add", `${clientAddress(place * 4 + 2)}/30`, "dev", "clients");
    inside("link", "set", "clients", "up");
    return {
      before: ["ip", "netns", "exec", space],
      address: `${net}.${place + 1}`,
      outside: clientAddress(place * 4 + 2),
      cut: () => ip("link", "set", port, "down"),
      join: () => ip("link", "set", port, "up"),
    };
  });
  return {
    sites,
    remove() {
      for (const { space } of ports) tryIp("netns", "del", space);
      tryIp("link", "del", id);
    },
  };
}

function ip(...words: readonly string[]): void {
  if (!tryIp(...words)) throw new Error(`ip ${words.join(" ")} failed`);
}

function tryIp(...words: readonly string[]): boolean {
  return Bun.spawnSync(["ip", ...words], { stdin: "ignore", stderr: "ignore" }).exitCode === 0;
}
