DROP VIEW `leads`;--> statement-breakpoint
CREATE TABLE `__new_stored_leads` (
	`position` integer PRIMARY KEY NOT NULL,
	`account` integer GENERATED ALWAYS AS (((position + 70368744177664) >> 49)) VIRTUAL NOT NULL,
	`identified_at` integer GENERATED ALWAYS AS ((position - (((position + 70368744177664) >> 49) << 49))) VIRTUAL NOT NULL,
	`uuid` blob NOT NULL,
	`pixel` integer NOT NULL,
	`state` text,
	`city_key` text,
	`has_email` integer NOT NULL,
	`doc` text NOT NULL,
	FOREIGN KEY (`account`) REFERENCES `accounts`(`number`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`pixel`) REFERENCES `pixels`(`number`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_stored_leads`("position", "uuid", "pixel", "state", "city_key", "has_email", "doc") SELECT (account << 49) + identified_at, "uuid", "pixel", "state", "city_key", "has_email", "doc" FROM `stored_leads` ORDER BY account, identified_at;--> statement-breakpoint
DROP TABLE `stored_leads`;--> statement-breakpoint
ALTER TABLE `__new_stored_leads` RENAME TO `stored_leads`;--> statement-breakpoint
CREATE UNIQUE INDEX `leads_by_time` ON `stored_leads` (`account`,`identified_at`);--> statement-breakpoint
CREATE UNIQUE INDEX `leads_by_uuid` ON `stored_leads` (`account`,`uuid`);--> statement-breakpoint
CREATE INDEX `leads_by_email` ON `stored_leads` (`account`,`has_email`);--> statement-breakpoint
CREATE INDEX `leads_by_pixel` ON `stored_leads` (`account`,`pixel`,`has_email`);--> statement-breakpoint
CREATE INDEX `leads_by_state` ON `stored_leads` (`account`,`state`,`has_email`);--> statement-breakpoint
CREATE INDEX `leads_by_city` ON `stored_leads` (`account`,`city_key`,`has_email`);--> statement-breakpoint
CREATE INDEX `leads_by_pixel_state` ON `stored_leads` (`account`,`pixel`,`state`,`has_email`);--> statement-breakpoint
CREATE INDEX `leads_by_pixel_city` ON `stored_leads` (`account`,`pixel`,`city_key`,`has_email`);--> statement-breakpoint
CREATE INDEX `leads_by_state_city` ON `stored_leads` (`account`,`state`,`city_key`,`has_email`);--> statement-breakpoint
CREATE INDEX `leads_by_pixel_state_city` ON `stored_leads` (`account`,`pixel`,`state`,`city_key`,`has_email`);--> statement-breakpoint
CREATE VIEW `leads` AS SELECT account, identified_at AS identified_ms, doc ->> '$.id' AS id, doc ->> '$.identified_at' AS identified_at, doc ->> '$.pixel_id' AS pixel_id, doc ->> '$.name' AS name, doc ->> '$.email' AS email, doc ->> '$.verified_email' AS verified_email, doc ->> '$.phone' AS phone, doc ->> '$.company' AS company, doc ->> '$.city' AS city, state, doc ->> '$.gender' AS gender, doc ->> '$.age_range' AS age_range, doc ->> '$.income_range' AS income_range, doc ->> '$.net_worth' AS net_worth, doc ->> '$.marital_status' AS marital_status, doc ->> '$.homeowner' AS homeowner, doc ->> '$.children' AS children, doc ->> '$.page_url' AS page_url, doc ->> '$.referrer' AS referrer, doc ->> '$.traffic_source' AS traffic_source FROM stored_leads;
