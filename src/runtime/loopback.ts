/** Tells the addresses of this machine from those that others can reach. */
import { isIP } from "node:net";

/** Returns whether only this machine can reach an address. */
export function isLoopback(host: string): boolean {
  return (
    /^(?:localhost|\[?(?:::1|(?:0:){7}1|::ffff:127\..*)\]?)$/i.test(host) ||
    (isIP(host) === 4 && host.startsWith("127."))
  );
}
