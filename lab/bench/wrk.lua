-- The requests of a scenario for wrk, and the measurement as one line of JSON.
-- Arguments: target varied <startMs> <spanMs> <seed> | target fixed

function init(args)
  if args[1] == "varied" then
    local startMs, spanMs = tonumber(args[2]), tonumber(args[3])
    math.randomseed(tonumber(args[4]))
    -- wrk.format writes the headers anew for every request, which would cost more than some answers.
    local head, tail = wrk.format("GET", "@"):match("^(.-)@(.*)$")
    head = head .. wrk.path .. (wrk.path:find("?", 1, true) and "&" or "?") .. "before="
    function request()
      local ms = startMs + math.floor(math.random() * spanMs)
      local second = math.floor(ms / 1000)
      return head .. os.date("!%Y-%m-%dT%H:%M:%S", second) .. string.format(".%03dZ", ms - second * 1000) .. tail
    end
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"seconds":%.6f,"p50Ms":%.4f,"p99Ms":%.4f,"failed":%d}\n',
    summary.requests,
    summary.duration / 1e6,
    latency:percentile(50) / 1000,
    latency:percentile(99) / 1000,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout
  ))
end
