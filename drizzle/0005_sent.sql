CREATE TABLE `former_numbers` (
	`number` integer PRIMARY KEY NOT NULL,
	`account` integer NOT NULL,
	`uuid` blob NOT NULL,
	`identified_at` integer NOT NULL,
	FOREIGN KEY (`account`) REFERENCES `accounts`(`number`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `former_numbers_by_uuid` ON `former_numbers` (`account`,`uuid`);--> statement-breakpoint
CREATE TABLE `lead_numbers` (
	`last` integer NOT NULL
) STRICT;
--> statement-breakpoint
INSERT INTO `lead_numbers` VALUES (0);--> statement-breakpoint
CREATE TRIGGER `keep_lead_number` AFTER DELETE ON `stored_leads` WHEN old.`number` > (SELECT `last` FROM `lead_numbers`)
BEGIN
	UPDATE `lead_numbers` SET `last` = old.`number`;
END;
--> statement-breakpoint
CREATE TABLE `sent` (
	`key` integer NOT NULL,
	`day` text NOT NULL,
	`block` integer NOT NULL,
	`node` text DEFAULT '' NOT NULL,
	`bits` blob NOT NULL,
	PRIMARY KEY(`key`, `day`, `block`, `node`),
	FOREIGN KEY (`key`) REFERENCES `keys`(`number`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `keys` ADD `read_up_to` integer;--> statement-breakpoint
UPDATE `keys` SET `read_up_to` = (SELECT max(`newest`) FROM `disclosures` WHERE `key` = `keys`.`number`);--> statement-breakpoint
DROP TABLE `disclosures`;--> statement-breakpoint
UPDATE `ledger_gaps` SET `reason` = CASE `reason` WHEN 'DISCLOSURES=off' THEN 'off' WHEN 'disk full' THEN 'disk' ELSE 'restore' END;--> statement-breakpoint
INSERT INTO `ledger_gaps` (`begins_at`, `reason`) SELECT min(`created_at`), 'upgrade' FROM `keys` HAVING count(*) > 0;--> statement-breakpoint
UPDATE `receipts` SET `pending` = (
	SELECT json_group_array(json_object('numbers', json('[]'), 'ms', `value` ->> 'ms', 'sinceMs', `value` ->> 'ms')) FROM json_each(`pending`)
) WHERE `pending` IS NOT NULL;
