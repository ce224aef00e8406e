# frozen_string_literal: true

# What clients/conformance does not say of the Ruby client. Ends with "N passed, N failed".
# `ruby test/all.rb fork` runs those whose names have the word.
require "timeout"
require "tmpdir"
require_relative "../lib/mintmark"

NOWHERE = "local-1:00000000-0000-0000-0000-000000000000"
TESTS = {}

def test(name, &body) = TESTS[name] = body

def assert(holds, what = "it does not hold") = holds || raise(what)

def raises(type)
  yield
rescue type => error
  error
else
  raise "#{type} was not raised"
end

def shop(m) = m.pool.create(name: "shop", developer_provider: "login.shop")

test "a block gets a client that is closed after it" do
  kept = nil
  Mintmark.testing(stderr: nil) { |m| assert (kept = m).system.ping.now.positive? }
  assert raises(Mintmark::ClientClosed) { kept.system.ping }
  assert Thread.list.size == 1, "threads are left"
end

test "errors have their details as methods" do
  Mintmark.testing(stderr: nil) do |m|
    error = raises(Mintmark::PoolNotFound) { m.pool.get(pool_id: NOWHERE, trace: "order-17") }
    assert [error.pool_id, error.code, error.type, error.trace] == [NOWHERE, 2001, "poolNotFound", "order-17"]
    assert error.is_a?(Mintmark::AnsweredError)
    assert raises(Mintmark::InvalidParams) { m.pool.create(name: "") }.violations.first.pointer == "/name"
    assert raises(ArgumentError) { m.pool.create(nam: "shop") }.message.include?("nam")
  end
end

test "secrets are not shown, and what is not known is kept" do
  Mintmark.testing(stderr: nil) do |m|
    minted = m.token.mint_for_developer(pool_id: shop(m).pool_id, logins: {"login.shop" => "alice"})
    assert !minted.inspect.include?(minted.token) && minted.inspect.include?(minted.identity_id)
    assert minted.to_h["token"] == minted.token && minted[:isNewIdentity] == true
  end
  record = Mintmark::Record.of({"aura" => {"sunRays" => [{"is" => 1}]}})
  assert record.aura.sun_rays.first.is == 1 && record.absent.nil?
end

test "results are matched as patterns, dug into, copied, and answer to their members alone" do
  record = Mintmark::Record.of({"poolId" => "p", "credentials" => {"expiresAt" => 5}, "names" => [{"x" => 1}]})
  case record
  in {pool_id: String => id, credentials: {expires_at:}} then assert [id, expires_at] == ["p", 5]
  end
  assert record.dig(:credentials, :expiresAt) == 5 && record.dig("names", 0, "x") == 1 && record.dig(:none, :x).nil?
  assert Marshal.load(Marshal.dump(record)) == record
  assert record.respond_to?(:pool_id) && record.respond_to?(:poolId) && !record.respond_to?(:to_str) && !record.respond_to?(:each)
  assert [[record]].flatten == [record]
end

test "Timeout interrupts a call" do
  Mintmark.testing(stderr: nil) do |m|
    m.system.ping
    pid = m.instance_variable_get(:@process).pid
    Process.kill(:STOP, pid)
    raises(Timeout::Error) { Timeout.timeout(0.2) { m.system.ping } }
    Process.kill(:CONT, pid)
    assert m.system.ping.now.positive?
  end
end

test "a testing method without testing says what to pass" do
  Mintmark.start(store: ":memory:", stderr: nil) { |m| assert raises(Mintmark::MethodNotFound) { m.test.clock }.message.include?("testing: true") }
end

test "a forked child gets a process of its own, and holds nothing of its parent's" do
  Dir.mktmpdir("mintmark-") do |folder|
    m = Mintmark.start(store: File.join(folder, "shop.db"), stderr: nil, timeout: 60)
    memory = Mintmark.testing(stderr: nil, timeout: 60)
    shop(m)
    told, tells = IO.pipe
    go_on, goes_on = IO.pipe
    child = fork do
      told.close
      goes_on.close
      left = raises(Mintmark::ProcessEnded) { memory.system.ping }.message
      tells.puts m.pool.list.pools.size, left
      m.close
      memory.close
      tells.puts "closed"
      go_on.read
      exit!(0)
    end
    tells.close
    go_on.close
    assert told.gets == "1\n"
    assert told.gets.include?("forked")
    assert told.gets == "closed\n"
    assert m.pool.list.pools.size == 1 && memory.system.ping.now.positive?, "the parent goes on"
    idle = fork { goes_on.close; IO.select(nil, nil, nil, 60); exit!(0) }
    statuses = [m, memory].map { |each| each.instance_variable_get(:@process).tap { each.close }.instance_variable_get(:@status) }
    assert statuses.all?(&:success?), "a child that makes no call must not keep the pipes open: #{statuses.inspect}"
    goes_on.close
    Process.kill(:KILL, idle)
    assert Process.wait2(child).last.success?
    Process.wait(idle)
  end
end

test "what is shown of a client, in error messages too, has no secrets" do
  Mintmark.testing(stderr: nil, environment: {"MINTMARK_MASTER_KEY" => "5ec1" * 16}) do |m|
    provider = Mintmark::CredentialsProvider.new(m, pool_id: "p", logins: {"login.shop" => "5ec15ec1"}) { nil }
    m.system.ping
    messages = [raises(NoMethodError) { m.pol }, raises(NoMethodError) { m.pool.creat }, raises(NoMethodError) { provider.gett }].map(&:message)
    assert (messages + [m, m.pool, provider].map(&:inspect)).none? { |text| text.include?("5ec15ec1") || text.lines.first.size > 200 }
  end
end

test "progress comes to the call that asked for it, before its result, and its error is the call's" do
  Mintmark.testing(stderr: nil, timeout: 60) do |m|
    params = {"accounts" => Array.new(450) { |number| {"email" => "user#{number}@example.com"} }}
    told = []
    result = m.call("account.import", params, progress: ->(value) { told << [value, Thread.current] })
    assert result["imported"] == 450
    assert told.size >= 2 && told.all? { |value, thread| value["nextLine"] && thread == Thread.current }, told.inspect
    assert raises(KeyError) { m.call("account.import", {"accounts" => params["accounts"], "onExisting" => "replace"}, progress: ->(_) { raise KeyError }) }
    assert m.system.ping.now.positive?
  end
end

test "what a backend gives is taken as a result, as a hash and as JSON; what it is not is told" do
  Mintmark.testing(stderr: nil, timeout: 60) do |m|
    pool = shop(m)
    m.role.put(name: "shopper", pool_id: pool.pool_id)
    m.pool.set_roles(pool_id: pool.pool_id, roles: {authenticated: "arn:aws:iam::000000000000:role/shopper"})
    mint = ->(logins) { m.token.mint_for_developer(pool_id: pool.pool_id, logins: logins) }
    provided = lambda do |key, &backend|
      Mintmark::CredentialsProvider.new(m, pool_id: pool.pool_id, key: key, logins: {"login.shop" => key}, &backend).get
    end
    assert provided.call("a") { |logins| mint.call(logins) }.state == "ready"
    assert provided.call("b") { |logins| mint.call(logins).to_h }.state == "ready"
    assert provided.call("c") { |logins| mint.call(logins).then { |minted| {identity_id: minted.identity_id, token: minted.token} } }.state == "ready"
    [nil, "token", {"token" => "t"}, 5].each do |wrong|
      message = raises(TypeError) { provided.call("d") { wrong } }.message
      assert message.include?("identity_id and token") && message.include?(wrong.class.name), message
    end
  end
end

test "time limits are numbers, and may be for ever" do
  Mintmark.testing(stderr: nil, timeout: Float::INFINITY) do |m|
    assert m.system.ping.now.positive? && m.system.ping(timeout: 1e300).now.positive?
    ["1", 0, -1, Float::NAN].each { |wrong| assert raises(ArgumentError) { m.system.ping(timeout: wrong) }.message.include?(wrong.inspect) }
  end
end

test "a program that answers nothing is not waited for long" do
  Dir.mktmpdir("mintmark-") do |folder|
    silent = File.join(folder, "silent")
    File.write(silent, "#!/bin/sh\nexec sleep 600\n", perm: 0o755)
    m = Mintmark::Client.new(store: ":memory:", binary: silent, stderr: nil, timeout: 0.05)
    raises(Mintmark::CallTimedOut) { m.system.ping }
    status = m.instance_variable_get(:@process)
    m.close(grace: 3600)
    assert status.instance_variable_get(:@status).termsig == 9
  end
end

test "a program that ends without a word is named, with what to do" do
  message = raises(Mintmark::ProcessEnded) { Mintmark.testing(binary: "/bin/true", stderr: nil) { |m| m.system.ping } }.message
  assert message.include?("/bin/true") && message.include?("MINTMARK_BINARY"), message
end

# A program in the shell, and a client of it.
def with_stand_in(text, stderr: nil, **options)
  Dir.mktmpdir("mintmark-") do |folder|
    program = File.join(folder, "stand-in")
    File.write(program, "#!/bin/sh\n#{text}\n", perm: 0o755)
    m = Mintmark::Client.new(store: ":memory:", binary: program, stderr: stderr, **options)
    begin
      yield m, m.instance_variable_get(:@process).pid
    ensure
      m.close(grace: 0)
    end
  end
end

def answer(id, result) = %(echo '{"jsonrpc":"2.0","id":#{id},"result":#{result}}')

test "a call ends with its process where the program waits for all its children itself" do
  # What holds the pipes lives until it is asked; the process that was started is gone by then, and waited for.
  with_stand_in("exec 3<&0; { read -r info; read -r call; } <&3 &", timeout: 60) do |m, pid|
    Process.wait(pid)
    assert raises(Mintmark::ProcessEnded) { m.system.ping }.message.include?("Process.wait")
  end
end

test "a first answer that says no version is passed over" do
  ['"hi"', "[1]", "7", '{"version":""}', '{"version":"dev"}', '{"version":5}'].each do |info|
    with_stand_in("read -r info; #{answer(0, info)}; read -r call; #{answer(1, '{"now":1}')}; cat >/dev/null", timeout: 60) do |m|
      assert m.system.ping.now == 1, info
    end
  end
end

test "what is no version is not below anything" do
  assert(["0.0.9", "0.0", "0.0.9-rc.1"].all? { |version| Mintmark::Wire.below?(version, "0.1.0") })
  assert(["", "dev", "-", "v0", "0.1.0", "0.1.0-rc.1", "0.10", "main 0.0.1"].none? { |version| Mintmark::Wire.below?(version, "0.1.0") })
end

test "close ends what a script has started, too" do
  with_stand_in("sleep 600; exit 0") do |m, pid|
    Timeout.timeout(60) { m.close(grace: 0.1) }
  ensure
    begin
      Process.kill(:KILL, -pid)
    rescue Errno::ESRCH
      nil
    end
  end
end

test "a log that cannot be written costs no call" do
  log = Object.new
  def log.write(_) = raise("the disk is full")
  with_stand_in("read -r info; read -r call; echo one >&2; echo two >&2; exit 74", stderr: log, timeout: 60) do |m|
    assert raises(Mintmark::ProcessEnded) { m.system.ping }.message.include?("one\ntwo")
  end
end

test "answers are UTF-8 wherever the program runs" do
  program = 'Mintmark.testing(stderr: nil) { |m| m.pool.create(name: "caf\u00e9") } rescue print $!.violations.first.message.include?("caf\u00e9")'
  ["ISO-8859-1", "ISO-8859-1:ISO-8859-1", "US-ASCII"].each do |encodings|
    said = IO.popen([RbConfig.ruby, "-E", encodings, "-r", File.expand_path("../lib/mintmark", __dir__), "-e", program], &:read)
    assert said == "true", "with #{encodings}: #{said}"
  end
end

test "a provider that was closed before it was used opens nothing" do
  Mintmark.testing(stderr: nil, timeout: 60) do |m|
    provider = Mintmark::CredentialsProvider.new(m, pool_id: shop(m).pool_id) { nil }
    provider.close
    assert raises(Mintmark::ClientClosed) { provider.get }.message.include?("make a new one")
    raises(Mintmark::ClientClosed) { provider.set_logins({"login.shop" => "alice"}) }
  end
end

test "a provider is closed after its process was started anew" do
  Mintmark.testing(stderr: nil, timeout: 60, restart: true) do |m|
    provider = Mintmark::CredentialsProvider.new(m, pool_id: shop(m).pool_id, logins: {"login.shop" => "alice"}) { nil }
    raises(TypeError) { provider.get }
    Process.kill(:KILL, m.instance_variable_get(:@process).pid)
    m.instance_variable_get(:@process).failure
    assert provider.close.nil?
    assert raises(Mintmark::ProviderNotOpen) { provider.get }
  end
end

test "what cannot be started says why, and leaves nothing" do
  held = -> { [Thread.list.size, Dir.children("/proc/self/fd").size] }
  before, deadline = held.call, Process.clock_gettime(Process::CLOCK_MONOTONIC) + 30
  [[5], ["a\0b"]].each do |wrong|
    raises(wrong == [5] ? TypeError : ArgumentError) { Mintmark::Client.new(store: ":memory:", arguments: wrong, stderr: nil, on_notification: ->(*) {}) }
  end
  # A thread that was told to end is there until it has.
  Thread.pass until held.call == before || Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
  assert held.call == before, "#{held.call} after #{before}"
  program = <<~RUBY
    next_one = File.open(File::NULL, &:fileno)
    said = (1..5).map do |free|
      Process.setrlimit(:NOFILE, next_one + free, Process.getrlimit(:NOFILE).last)
      Mintmark::Client.new(store: ":memory:", stderr: nil) && "started"
    rescue StandardError => error
      error
    end
    print said.all? { |error| error.is_a?(Mintmark::BinaryNotFound) && error.message.include?("Too many open files") } || said.inspect
  RUBY
  said = IO.popen([RbConfig.ruby, "-r", File.expand_path("../lib/mintmark", __dir__), "-e", program], &:read)
  assert said == "true", said
end

test "the gem is built of the files that it needs" do
  Dir.mktmpdir("mintmark-") do |folder|
    made = File.join(folder, "mintmark.gem")
    Dir.chdir(File.join(__dir__, "..")) { assert system("gem", "build", "--silent", "--output", made, "mintmark.gemspec", out: File::NULL, err: File::NULL) }
    installed = File.join(folder, "gems")
    assert system("gem", "install", "--local", "--silent", "--no-document", "--install-dir", installed, made, out: File::NULL)
    program = 'require "mintmark"; Mintmark.testing(stderr: nil) { |m| puts m.system.info.testing }'
    assert IO.popen({"GEM_PATH" => installed, "GEM_HOME" => installed}, ["ruby", "-e", program], &:read) == "true\n"
  end
end

require_relative "signatures"

TESTS.select! { |name, _| name.include?(ARGV.first) } unless ARGV.empty?
failed = TESTS.reject do |name, body|
  body.call
  puts "ok      #{name}"
  true
rescue StandardError => error
  puts "FAILED  #{name}: #{error.full_message(highlight: false)}"
  false
end
puts "#{TESTS.size - failed.size} passed, #{failed.size} failed"
exit failed.empty?
