-- Version 1. The functions say in SQL what protocol.hpp says in C++; the contract suite runs over both.
-- States: 0 delayed, 1 queued, 2 running, 3 succeeded, 4 failed, 5 cancelled, 6 dead. Times are
-- microseconds of the server's clock. Callers need EXECUTE only: the functions own the tables.
CREATE SCHEMA spool;
REVOKE ALL ON SCHEMA spool FROM PUBLIC;

CREATE TABLE spool.version (one int PRIMARY KEY CHECK (one = 1), number int NOT NULL);
INSERT INTO spool.version VALUES (1, 1);

CREATE TABLE spool.job (
    number bigserial PRIMARY KEY,
    id uuid NOT NULL UNIQUE,
    queue text NOT NULL,
    function text NOT NULL,
    signature bigint NOT NULL,
    args bytea NOT NULL,
    key text,
    submitter text NOT NULL,
    state smallint NOT NULL,
    priority int NOT NULL,
    created_at bigint NOT NULL,
    run_at bigint NOT NULL,
    attempt int NOT NULL DEFAULT 0,
    retries int NOT NULL,
    crashes int NOT NULL DEFAULT 0,
    crash_limit int NOT NULL,
    backoff bigint NOT NULL,
    time_limit bigint NOT NULL,
    keep bigint NOT NULL,
    worker text NOT NULL DEFAULT '',
    fence bigint NOT NULL DEFAULT 0,
    lease_until bigint NOT NULL DEFAULT 0,
    cancel_requested bool NOT NULL DEFAULT false,
    finished_at bigint NOT NULL DEFAULT 0,
    result bytea,
    error_type text NOT NULL DEFAULT '',
    error_text text NOT NULL DEFAULT ''
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX job_ready ON spool.job (queue, priority DESC, run_at, number) WHERE state = 1;
CREATE INDEX job_delayed ON spool.job (queue, run_at) WHERE state = 0;
CREATE INDEX job_running ON spool.job (lease_until) WHERE state = 2;
CREATE UNIQUE INDEX job_keys ON spool.job (queue, key) WHERE key IS NOT NULL AND state < 3;
CREATE INDEX job_expiry ON spool.job ((finished_at + keep)) WHERE state >= 3;

CREATE TABLE spool.queue (
    name text PRIMARY KEY,
    paused bool NOT NULL,
    rate float8 NOT NULL,
    burst float8 NOT NULL,
    tokens float8 NOT NULL,
    filled_at bigint NOT NULL
);
-- A worker with a session holds the advisory lock (1397772111, lock_key). suspect_since: when another
-- worker first found it free.
CREATE TABLE spool.worker (
    id text PRIMARY KEY,
    name text NOT NULL,
    functions text[] NOT NULL,
    lock_key int,
    suspect_since bigint NOT NULL DEFAULT 0
);

CREATE FUNCTION spool.now_us() RETURNS bigint LANGUAGE sql VOLATILE AS
$$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint $$;

-- Tells the submitters of finished jobs which those are, at most 200 to a notification.
CREATE FUNCTION spool.tell_finished(numbers bigint[]) RETURNS void LANGUAGE sql AS $$
    SELECT pg_notify('spool_done_' || submitter, string_agg(replace(id::text, '-', ''), ''))
    FROM (SELECT submitter, id, (row_number() OVER (PARTITION BY submitter) - 1) / 200 AS part
          FROM spool.job WHERE number = ANY (numbers) AND state >= 3 AND submitter <> '') AS done
    GROUP BY submitter, part;
$$;
CREATE FUNCTION spool.tell_ready(queues text[]) RETURNS void LANGUAGE sql AS
$$ SELECT pg_notify('spool_ready', q) FROM (SELECT DISTINCT unnest(queues) AS q) AS all_queues; $$;

CREATE FUNCTION spool.put(ids uuid[], queues text[], functions text[], signatures bigint[], args bytea[],
    keys text[], submitters text[], priorities int[], delays bigint[], starts bigint[], retries int[],
    crash_limits int[], backoffs bigint[], time_limits bigint[], keeps bigint[])
RETURNS TABLE (added bool, existing uuid) LANGUAGE plpgsql SECURITY DEFINER SET search_path = spool, pg_temp AS $$
#variable_conflict use_column
DECLARE
    t bigint := now_us();
    new_ids uuid[];
    ready text[];
BEGIN
    WITH given AS (
        SELECT g.*, CASE WHEN g.start >= 0 THEN g.start ELSE t + g.delay END AS due
        FROM unnest(ids, queues, functions, signatures, args, keys, submitters, priorities, delays, starts,
                    retries, crash_limits, backoffs, time_limits, keeps)
             WITH ORDINALITY AS g (id, queue, function, signature, args, key, submitter, priority, delay, start,
                                   retries, crash_limit, backoff, time_limit, keep, place)),
    fresh AS (
        INSERT INTO job (id, queue, function, signature, args, key, submitter, state, priority, created_at,
                         run_at, retries, crash_limit, backoff, time_limit, keep)
        SELECT id, queue, function, signature, args, nullif(key, ''), submitter,
               CASE WHEN due > t THEN 0 ELSE 1 END, priority, t, greatest(due, t), retries, crash_limit, backoff,
               time_limit, keep
        FROM given ORDER BY place
        ON CONFLICT DO NOTHING RETURNING job.id, job.queue, job.state)
    SELECT array_agg(fresh.id), array_agg(DISTINCT fresh.queue) FILTER (WHERE fresh.state = 1)
    INTO new_ids, ready FROM fresh;
    PERFORM tell_ready(ready);
    RETURN QUERY
        SELECT g.id = ANY (new_ids) IS TRUE,
               coalesce((SELECT j.id FROM job j WHERE j.id = g.id),
                        (SELECT j.id FROM job j WHERE j.queue = g.queue AND j.key = g.key AND j.key IS NOT NULL
                                                  AND j.state < 3))
        FROM unnest(ids, queues, keys) WITH ORDINALITY AS g (id, queue, key, place) ORDER BY g.place;
END $$;

-- Room in a bounded queue: 0 none, 1 yes. Serialises the submitters of the queue until they commit.
CREATE FUNCTION spool.make_room(name text, bound bigint, evict bool) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = spool, pg_temp AS $$
DECLARE
    t bigint := now_us();
    waiting bigint;
    evicted bigint[];
BEGIN
    PERFORM pg_advisory_xact_lock(1397772112, hashtext(name));
    SELECT count(*) INTO waiting FROM (SELECT 1 FROM job WHERE queue = name AND state IN (0, 1) LIMIT bound) AS w;
    IF waiting < bound THEN RETURN 1; END IF;
    IF NOT evict THEN RETURN 0; END IF;
    WITH oldest AS (SELECT number FROM job WHERE queue = name AND state IN (0, 1) ORDER BY number
                    LIMIT waiting + 1 - bound FOR UPDATE SKIP LOCKED),
    gone AS (UPDATE job j SET state = 5, finished_at = t, error_type = 'spool::evicted',
                    error_text = 'a newer job pushed it out of the full queue'
             FROM oldest WHERE j.number = oldest.number RETURNING j.number)
    SELECT array_agg(number) INTO evicted FROM gone;
    PERFORM tell_finished(evicted);
    RETURN 1;
END $$;

-- Ends the leases that match; answers how many.
CREATE FUNCTION spool.expire(of_worker text, most int) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = spool, pg_temp AS $$
DECLARE
    t bigint := now_us();
    numbers bigint[];
    ready text[];
BEGIN
    WITH lost AS (SELECT number FROM job WHERE state = 2 AND CASE WHEN of_worker IS NULL THEN lease_until <= t
                                                                   ELSE worker = of_worker END
                  ORDER BY lease_until LIMIT most FOR UPDATE SKIP LOCKED),
    ended AS (
        UPDATE job j SET
            crashes = j.crashes + 1,
            state = CASE WHEN j.cancel_requested THEN 5 WHEN j.crashes + 1 >= j.crash_limit THEN 6 ELSE 1 END,
            finished_at = CASE WHEN j.cancel_requested OR j.crashes + 1 >= j.crash_limit THEN t ELSE 0 END,
            worker = CASE WHEN j.cancel_requested OR j.crashes + 1 >= j.crash_limit THEN j.worker ELSE '' END,
            lease_until = 0,
            error_type = CASE WHEN NOT j.cancel_requested AND j.crashes + 1 >= j.crash_limit THEN 'spool::lost'
                              ELSE j.error_type END,
            error_text = CASE WHEN NOT j.cancel_requested AND j.crashes + 1 >= j.crash_limit
                              THEN 'its worker was lost ' || (j.crashes + 1) || ' time(s) while it ran the job'
                              ELSE j.error_text END
        FROM lost WHERE j.number = lost.number RETURNING j.number, j.queue, j.state)
    SELECT array_agg(number), array_agg(DISTINCT queue) FILTER (WHERE state = 1) INTO numbers, ready FROM ended;
    PERFORM tell_finished(numbers);
    PERFORM tell_ready(ready);
    RETURN coalesce(array_length(numbers, 1), 0);
END $$;

-- The last row has no id: it says when to ask again.
CREATE FUNCTION spool.take(me text, queues text[], quotas int[], functions text[], most int, lease bigint)
RETURNS TABLE (id uuid, fence bigint, queue text, function text, signature bigint, args bytea, priority int,
               attempt int, crashes int, retries int, backoff bigint, time_limit bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = spool, pg_temp AS $$
#variable_conflict use_column
DECLARE
    t bigint := now_us();
    room int := most;
    n int;
    got int;
    next_in bigint := NULL;
    s queue%ROWTYPE;
BEGIN
    IF EXISTS (SELECT 1 FROM job j WHERE j.state = 2 AND j.lease_until <= t) THEN
        PERFORM expire(NULL, 1000);
    END IF;
    UPDATE job j SET state = 1 WHERE j.number IN (
        SELECT d.number FROM job d WHERE d.state = 0 AND d.queue = ANY (queues) AND d.run_at <= t
        ORDER BY d.run_at LIMIT 1000 FOR UPDATE SKIP LOCKED);
    IF EXISTS (SELECT 1 FROM job j WHERE j.state = 1 AND j.queue = ANY (queues)) THEN
        FOR pass IN 1..2 LOOP
            FOR i IN 1..array_length(queues, 1) LOOP
                n := CASE pass WHEN 1 THEN least(quotas[i], room) ELSE room END;
                CONTINUE WHEN n <= 0;
                SELECT * INTO s FROM queue q WHERE q.name = queues[i] AND (q.paused OR q.rate > 0) FOR UPDATE;
                IF FOUND THEN
                    CONTINUE WHEN s.paused;
                    s.tokens := least(s.burst, s.tokens + s.rate * greatest(t - s.filled_at, 0) / 1e6);
                    IF s.tokens < n THEN
                        next_in := least(next_in, ((1 - (s.tokens - floor(s.tokens))) / s.rate * 1e6)::bigint + 1);
                    END IF;
                    n := least(n, floor(s.tokens)::int);
                END IF;
                RETURN QUERY
                    WITH picked AS MATERIALIZED (
                        SELECT j.number FROM job j
                        WHERE j.state = 1 AND j.queue = queues[i] AND j.function = ANY (functions)
                        ORDER BY j.priority DESC, j.run_at, j.number LIMIT n FOR UPDATE SKIP LOCKED),
                    mine AS (
                        UPDATE job j SET state = 2, fence = j.fence + 1, lease_until = t + lease, worker = me
                        FROM picked p WHERE j.number = p.number RETURNING j.*)
                    SELECT m.id, m.fence, m.queue, m.function, m.signature, m.args, m.priority, m.attempt,
                           m.crashes, m.retries, m.backoff, m.time_limit
                    FROM mine m ORDER BY m.priority DESC, m.run_at, m.number;
                GET DIAGNOSTICS got = ROW_COUNT;
                room := room - got;
                IF s.name IS NOT NULL THEN
                    UPDATE queue q SET tokens = s.tokens - got, filled_at = t WHERE q.name = s.name;
                END IF;
            END LOOP;
        END LOOP;
    END IF;
    SELECT least(next_in, min(due) - t) INTO next_in FROM unnest(queues) AS u (name), LATERAL (
        SELECT j.run_at AS due FROM job j WHERE j.state = 0 AND j.queue = u.name ORDER BY j.run_at LIMIT 1) AS d;
    RETURN QUERY SELECT NULL::uuid, next_in, NULL::text, NULL::text, NULL::bigint, NULL::bytea, NULL::int,
                        NULL::int, NULL::int, NULL::int, NULL::bigint, NULL::bigint;
END $$;

-- 0 renewed, 1 stop requested, 2 lost; in the order of the leases.
CREATE FUNCTION spool.renew(ids uuid[], fences bigint[], length bigint) RETURNS TABLE (status int)
LANGUAGE sql SECURITY DEFINER SET search_path = spool, pg_temp AS $$
    WITH given AS (SELECT * FROM unnest(ids, fences) WITH ORDINALITY AS g (id, fence, place)),
    kept AS (UPDATE job j SET lease_until = now_us() + length FROM given g
             WHERE j.id = g.id AND j.state = 2 AND j.fence = g.fence RETURNING g.place, j.cancel_requested)
    SELECT CASE WHEN k.place IS NULL THEN 2 WHEN k.cancel_requested THEN 1 ELSE 0 END
    FROM given g LEFT JOIN kept k USING (place) ORDER BY g.place;
$$;

-- Kinds: 0 succeeded, 1 error, 2 refused, 3 cancelled. Answers 0 finished, 1 retrying, 2 stale.
CREATE FUNCTION spool.finish(ids uuid[], fences bigint[], kinds int[], results bytea[], types text[],
    texts text[], retry_ins bigint[]) RETURNS TABLE (status int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = spool, pg_temp AS $$
DECLARE
    t bigint := now_us();
    places bigint[];
    states smallint[];
    numbers bigint[];
    ready text[];
BEGIN
    WITH given AS (SELECT * FROM unnest(ids, fences, kinds, results, types, texts, retry_ins)
                   WITH ORDINALITY AS g (id, fence, kind, result, type, text, retry_in, place)),
    decided AS (
        SELECT j.number, g.*, CASE WHEN g.kind = 0 THEN 3 WHEN g.kind = 2 THEN 4 WHEN g.kind = 3 THEN 5
                                   WHEN j.cancel_requested THEN 5 WHEN j.attempt + 1 > j.retries THEN 4
                                   WHEN g.retry_in > 0 THEN 0 ELSE 1 END AS next
        FROM given g JOIN job j ON j.id = g.id AND j.state = 2 AND j.fence = g.fence ORDER BY j.number
        FOR UPDATE OF j),
    done AS (
        UPDATE job j SET
            state = d.next,
            attempt = j.attempt + CASE WHEN d.kind IN (1, 2) THEN 1 ELSE 0 END,
            run_at = CASE WHEN d.next < 2 THEN t + greatest(d.retry_in, 0) ELSE j.run_at END,
            worker = CASE WHEN d.next < 2 THEN '' ELSE j.worker END,
            lease_until = 0,
            finished_at = CASE WHEN d.next >= 3 THEN t ELSE 0 END,
            result = CASE WHEN d.next = 3 THEN d.result END,
            error_type = d.type,
            error_text = d.text
        FROM decided d WHERE j.number = d.number RETURNING j.number, d.place, j.state, j.queue)
    SELECT array_agg(place), array_agg(state), array_agg(number),
           array_agg(DISTINCT queue) FILTER (WHERE state = 1)
    INTO places, states, numbers, ready FROM done;
    PERFORM tell_finished(numbers);
    PERFORM tell_ready(ready);
    RETURN QUERY
        SELECT CASE WHEN d.state IS NULL THEN 2 WHEN d.state >= 3 THEN 0 ELSE 1 END
        FROM generate_series(1, array_length(ids, 1)) AS g (place)
        LEFT JOIN unnest(places, states) AS d (place, state) ON d.place = g.place ORDER BY g.place;
END $$;

CREATE FUNCTION spool.hand_back(ids uuid[], fences bigint[], delay bigint) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = spool, pg_temp AS $$
DECLARE
    t bigint := now_us();
    numbers bigint[];
    ready text[];
BEGIN
    WITH given AS (SELECT * FROM unnest(ids, fences) AS g (id, fence)),
    back AS (
        UPDATE job j SET
            state = CASE WHEN j.cancel_requested THEN 5 WHEN delay > 0 THEN 0 ELSE 1 END,
            run_at = CASE WHEN j.cancel_requested OR delay <= 0 THEN j.run_at ELSE t + delay END,
            finished_at = CASE WHEN j.cancel_requested THEN t ELSE 0 END,
            worker = CASE WHEN j.cancel_requested THEN j.worker ELSE '' END,
            lease_until = 0
        FROM given g WHERE j.id = g.id AND j.state = 2 AND j.fence = g.fence RETURNING j.number, j.queue, j.state)
    SELECT array_agg(number), array_agg(DISTINCT queue) FILTER (WHERE state = 1) INTO numbers, ready FROM back;
    PERFORM tell_finished(numbers);
    PERFORM tell_ready(ready);
    RETURN coalesce(array_length(numbers, 1), 0);
END $$;

-- 0 cancelled, 1 stop requested, 2 already finished, 3 unknown.
CREATE FUNCTION spool.cancel(job_id uuid) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = spool, pg_temp AS $$
DECLARE
    j job%ROWTYPE;
BEGIN
    SELECT * INTO j FROM job WHERE id = job_id FOR UPDATE;
    IF NOT FOUND THEN RETURN 3; END IF;
    IF j.state >= 3 THEN RETURN 2; END IF;
    IF j.state = 2 THEN
        UPDATE job SET cancel_requested = true WHERE number = j.number;
        PERFORM pg_notify('spool_stop_' || md5(j.worker), replace(job_id::text, '-', ''));
        RETURN 1;
    END IF;
    UPDATE job SET state = 5, finished_at = now_us() WHERE number = j.number;
    PERFORM tell_finished(ARRAY[j.number]);
    RETURN 0;
END $$;

CREATE FUNCTION spool.retry(job_id uuid) RETURNS bool
LANGUAGE plpgsql SECURITY DEFINER SET search_path = spool, pg_temp AS $$
DECLARE
    q text;
BEGIN
    UPDATE job SET state = 1, run_at = now_us(), attempt = 0, crashes = 0, cancel_requested = false,
                   finished_at = 0, worker = '', error_type = '', error_text = ''
    WHERE id = job_id AND state IN (4, 5, 6) RETURNING queue INTO q;
    IF NOT FOUND THEN RETURN false; END IF;
    PERFORM tell_ready(ARRAY[q]);
    RETURN true;
EXCEPTION WHEN unique_violation THEN
    RETURN false;  -- another unfinished job has the key
END $$;

CREATE FUNCTION spool.configure(queue_name text, is_paused bool, new_rate float8, new_burst float8) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = spool, pg_temp AS $$
    INSERT INTO queue VALUES (queue_name, is_paused, new_rate, new_burst, new_burst, now_us())
    ON CONFLICT (name) DO UPDATE SET paused = excluded.paused, rate = excluded.rate, burst = excluded.burst,
                                     tokens = excluded.tokens, filled_at = excluded.filled_at;
    SELECT pg_notify('spool_ready', queue_name);
$$;

CREATE FUNCTION spool.enlist(worker_id text, worker_name text, has text[], key int) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = spool, pg_temp AS $$
    INSERT INTO worker VALUES (worker_id, worker_name, has, key)
    ON CONFLICT (id) DO UPDATE SET functions = excluded.functions, lock_key = excluded.lock_key, suspect_since = 0;
$$;
CREATE FUNCTION spool.retire(worker_id text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = spool, pg_temp AS $$ DELETE FROM worker WHERE id = worker_id; $$;

-- Expires the leases of workers whose session has been gone for a second. A restart of the server ends
-- every session at once; the second lets the workers come back before others suspect them.
CREATE FUNCTION spool.reap(me text) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = spool, pg_temp AS $$
DECLARE
    w worker%ROWTYPE;
    t bigint := now_us();
    n int := 0;
BEGIN
    FOR w IN SELECT * FROM worker WHERE lock_key IS NOT NULL AND id <> me FOR UPDATE SKIP LOCKED LOOP
        IF NOT pg_try_advisory_xact_lock(1397772111, w.lock_key) THEN
            UPDATE worker SET suspect_since = 0 WHERE id = w.id AND suspect_since <> 0;
        ELSIF w.suspect_since = 0 THEN
            UPDATE worker SET suspect_since = t WHERE id = w.id;
        ELSIF t - w.suspect_since > 1000000 THEN
            n := n + expire(w.id, 100000);
            DELETE FROM worker WHERE id = w.id;
        END IF;
    END LOOP;
    RETURN n;
END $$;

CREATE FUNCTION spool.tidy(most int) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = spool, pg_temp AS $$
DECLARE
    n int := expire(NULL, most);
    removed int;
BEGIN
    DELETE FROM job WHERE number IN (SELECT number FROM job WHERE state >= 3 AND finished_at + keep <= now_us()
                                     ORDER BY finished_at + keep LIMIT most FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN n + removed;
END $$;

DO $$ BEGIN
    CREATE ROLE spool_submit NOLOGIN;
EXCEPTION WHEN duplicate_object OR insufficient_privilege THEN
END $$;
DO $$ BEGIN
    CREATE ROLE spool_work NOLOGIN;
EXCEPTION WHEN duplicate_object OR insufficient_privilege THEN
END $$;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA spool FROM PUBLIC;
DO $$ BEGIN
    GRANT USAGE ON SCHEMA spool TO spool_submit, spool_work;
    GRANT SELECT ON ALL TABLES IN SCHEMA spool TO spool_submit, spool_work;
    GRANT EXECUTE ON FUNCTION spool.now_us, spool.put, spool.make_room, spool.cancel TO spool_submit;
    GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA spool TO spool_work;
EXCEPTION WHEN undefined_object THEN
    RAISE NOTICE 'the roles spool_submit and spool_work do not exist: grant rights by hand';
END $$;
