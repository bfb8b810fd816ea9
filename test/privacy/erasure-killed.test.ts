/** An erasure that is killed at any moment: each lead that is gone has a receipt, which is complete afterwards. */
import { expect, test } from "bun:test";
import { openDatabase } from "../../src/db/open.ts";
import { receipts } from "../../src/db/schema.ts";
import { anAdmin } from "../support/admin.ts";

const people = Array.from({ length: 400 }, (_, n) => `person${n}@example.com`);

test("a receipt is complete whenever its erasure is killed", async () => {
  for (let round = 0; round < 4; round++) {
    const admin = anAdmin();
    await admin.import(`pixel_id,email\n${people.map((email) => `px,${email}`).join("\n")}\n`);
    const running = admin.start("lead", "erase", "acme", "--list", admin.put("list.txt", people.join("\n")));
    await Bun.sleep(250 + 120 * round);
    running.kill("SIGKILL");
    await running.exited;
    const database = openDatabase(admin.file);
    // As if the kill was a minute ago: a running erasure completes its own receipts.
    const anHourAgo = Date.now() - 3_600_000;
    database.update(receipts).set({ erasedAt: anHourAgo }).run();
    database.$client.close();
    const listed = (await admin.run("receipt", "list", "acme")).stdout.split("\n").filter((line) => line !== "");
    expect(listed).toHaveLength(people.length - (await admin.leads()).length);
    for (const line of listed) expect(JSON.parse(line)).toMatchObject({ removed: [expect.any(String)], received: [] });
    const after = openDatabase(admin.file);
    expect(
      after
        .select()
        .from(receipts)
        .all()
        .filter(({ pending }) => pending !== null),
    ).toEqual([]);
    after.$client.close();
  }
}, 60_000);
