/** A mail server that accepts every mail from clients that know its password. */
import { onTestFinished } from "bun:test";
import { createServer } from "node:net";

interface TakenMail {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly body: string;
}

/** Starts a server without TLS. With a user, it takes mail only after AUTH PLAIN. */
export async function aMailServer(user?: string, password?: string, host = "127.0.0.1") {
  const taken: TakenMail[] = [];
  const said: string[] = [];
  const expected = Buffer.from(`\0${user}\0${password}`).toString("base64");
  const greeting = user === undefined ? "250 here" : "250-here\r\n250 AUTH PLAIN";
  const server = createServer((socket) => {
    const mail = { from: "", to: "", data: null as string | null };
    const reply = (line: string) => void socket.write(`${line}\r\n`);
    const take = (part: Partial<typeof mail>, answer = "250 fine") => {
      Object.assign(mail, part);
      return answer;
    };
    const answers: Readonly<Record<string, (rest: string) => string>> = {
      EHLO: () => greeting,
      AUTH: (rest) => (rest === `PLAIN ${expected}` ? "235 welcome" : "535 5.7.8 wrong password"),
      MAIL: (rest) => take({ from: addressIn(rest) }),
      RCPT: (rest) => take({ to: addressIn(rest) }),
      DATA: () => take({ data: "" }, "354 go on"),
      QUIT: () => "221 bye",
    };
    const obey = (line: string) => {
      said.push(line);
      if (mail.data === null) return reply(answers[line.slice(0, 4).toUpperCase()]?.(line.slice(5)) ?? "250 fine");
      if (line !== ".") return void (mail.data += `${line}\n`);
      taken.push(readMail(mail.from, mail.to, mail.data));
      mail.data = null;
      return reply("250 2.0.0 queued as 1");
    };
    let pending = "";
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      const lines = (pending + bytes.toString()).split("\r\n");
      pending = lines.pop() ?? "";
      for (const line of lines) obey(line);
    });
    reply("220 here");
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "0.0.0.0", resolve);
  await promise;
  onTestFinished(() => void server.close());
  const address = server.address();
  return { url: `smtp://${host}:${typeof address === "object" ? address?.port : ""}`, taken, said };
}

const addressIn = (text: string) => /<(.*?)>/.exec(text)?.[1] ?? "";

function readMail(from: string, to: string, data: string): TakenMail {
  const subject = /^Subject: (.*(?:\n[ \t].*)*)/m.exec(data)?.[1]?.replaceAll(/\n[ \t]/g, " ") ?? "";
  return { from, to, subject, body: data.slice(data.indexOf("\n\n")) };
}
