# frozen_string_literal: true

# Tests of the Ruby client beyond clients/conformance. Prints "N passed, N failed" at the end.
# `ruby test/all.rb fork` runs the tests whose names contain the word.
require "timeout"
require "tmpdir"
require_relative "../lib/mintmark/testing"

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

test "a client that was passed to a block is closed after the block" do
  kept = nil
  Mintmark.testing(stderr: nil) { |m| assert (kept = m).system.ping.now.is_a?(Time) }
  assert raises(Mintmark::ClientClosed) { kept.system.ping }
  assert Thread.list.size == 1, "threads are left"
end

test "errors have readers for their details" do
  Mintmark.testing(stderr: nil) do |m|
    error = raises(Mintmark::PoolNotFound) { m.pool.get(pool_id: NOWHERE, trace: "order-17") }
    assert [error.pool_id, error.code, error.type, error.trace] == [NOWHERE, 2001, "poolNotFound", "order-17"]
    assert error.is_a?(Mintmark::APIError)
    assert raises(Mintmark::InvalidParams) { m.pool.create(name: "") }.violations.first.pointer == "/name"
    assert raises(ArgumentError) { m.pool.create(nam: "shop") }.message.include?("nam")
  end
end

test "inspect hides secrets and unknown members, which remain readable by their names" do
  Mintmark.testing(stderr: nil) do |m|
    params = {"poolId" => shop(m).pool_id, "logins" => {"login.shop" => "alice"}}
    [m.token.mint_for_developer(pool_id: params["poolId"], logins: params["logins"]), m.call("token.mintForDeveloper", params)].each do |minted|
      assert minted.is_a?(Mintmark::TokenMintForDeveloperResult) && !minted.inspect.include?(minted.token) && minted.inspect.include?(minted.identity_id)
      assert minted.to_h["token"] == minted.token && minted.key?(:isNewIdentity)
    end
  end
  pool = Mintmark::Pool.new({"poolId" => "p", "aura" => {"sunRays" => [{"is" => 1}]}})
  assert pool["aura"]["sunRays"].first["is"] == 1 && pool.dig(:aura, :sunRays, 0, :is) == 1
  assert pool.inspect.include?("aura: [unknown]") && Mintmark::Record.of({"a" => {"token" => "t"}}).inspect.include?("token: [secret]")
end

test "a misspelled member raises NoMethodError, on records and on errors" do
  pool = Mintmark::Pool.new({"poolId" => "p", "aura" => 1})
  %i[pool_idd aura poolId].each { |wrong| assert raises(NoMethodError) { pool.public_send(wrong) }.name == wrong }
  assert raises(NoMethodError) { Mintmark::Record.of({"name" => "n"}).name }
  assert raises(NoMethodError) { Mintmark::PoolNotFound.new({"data" => {"poolId" => "p"}}).pool_idd }
  assert pool.respond_to?(:pool_id) && !pool.respond_to?(:aura) && !pool.respond_to?(:to_str) && !pool.respond_to?(:each)
  assert pool.developer_provider.nil?, "a known member that is absent is nil"
end

test "members named like methods of every object have readers with a suffix" do
  account = Mintmark::PortableAccount.new({"method" => "password", "hash" => {"algorithm" => "BCRYPT"}})
  assert account.method_value == "password" && account.hash_value.algorithm == "BCRYPT"
  assert account.hash.is_a?(Integer) && account.method(:inspect).arity.zero?
  every = Mintmark.constants.map { |name| Mintmark.const_get(name) }.grep(Class).select { |each| each < Mintmark::Record }
  taken = every.flat_map { |each| each.members.values.map(&:reader) }.uniq.select { |reader| Mintmark::List.superclass.public_method_defined?(reader) }
  assert every.size > 100 && taken.empty?, "records already have #{taken}"
end

test "records are frozen, are equal by class and members, and to_h returns a copy" do
  members = {"poolId" => +"p", "tags" => {"a" => +"1"}}
  pool = Mintmark::Pool.new(members)
  members["tags"]["a"] << "2"
  pool.to_h["tags"]["a"] << "3"
  assert pool.tags == {"a" => "1"} && pool.frozen? && pool.tags.frozen? && pool.pool_id.frozen?
  same = Mintmark::Pool.new({"poolId" => "p", "tags" => {"a" => "1"}})
  assert pool == same && pool.eql?(same) && {pool => 1}[same] == 1
  assert pool != Mintmark::PoolSummary.new(same.to_h) && pool != same.to_h && !pool.eql?(Mintmark::Pool.new({}))
  loaded = Marshal.load(Marshal.dump(pool))
  assert loaded == pool && loaded.frozen?
end

test "records support pattern matching and dig" do
  record = Mintmark::CredentialsProviderAnswer.new({"state" => "ready", "identityId" => "i", "credentials" => {"expiresAt" => 5, "accessKeyId" => "k"}})
  case record
  in {identity_id: String => id, credentials: {expires_at:}} then assert [id, expires_at] == ["i", Time.at(5)]
  end
  assert record.dig(:credentials, :accessKeyId) == "k" && record.dig(:none, :x).nil? && [[record]].flatten == [record]
end

test "the state of a step determines its class" do
  Mintmark.testing(stderr: nil) do |m|
    step = m.sign_up.start(username: "alice@example.com")
    assert step.instance_of?(Mintmark::SignUpStep::CodeRequired) && step.is_a?(Mintmark::SignUpStep)
    case step
    in Mintmark::SignUpStep::CodeRequired(state: "codeRequired", code_length:, sent_to:) then assert [code_length, sent_to] == [8, "a***@e***.com"]
    end
    raises(NoMethodError) { step.account_id }
    assert Marshal.load(Marshal.dump(step)) == step && Mintmark::SignUpStep.new(step.to_h) == step
    assert !step.inspect.include?(step.continuation_token)
    account = m.account.create(username: "bob@example.com")
    nodes = m.account.graph(account_id: account.account_id).nodes
    assert nodes.map(&:class) == [Mintmark::GraphNode::Account, Mintmark::GraphNode::Provider]
  end
end

test "an unknown state is read as Other, with its members" do
  json = {"state" => "approvalRequired", "approver" => "bob"}
  step = Mintmark::SignUpStep.new(json)
  assert step.instance_of?(Mintmark::SignUpStep::Other) && step.state == "approvalRequired" && step["approver"] == "bob"
  assert step.to_h == json && !step.inspect.include?("bob") && Mintmark::SignUpStep.new({}).instance_of?(Mintmark::SignUpStep::Other)
  with_stand_in("read -r info; #{answer(0, '{}')}; read -r call; #{answer(1, JSON.generate(json))}; cat >/dev/null", timeout: 60) do |m|
    assert m.sign_up.start(username: "alice@example.com") == step
  end
end

test "times are Time objects in results and in parameters" do
  Mintmark.testing(stderr: nil, clock: Time.at(1_700_000_000)) do |m|
    m.test.clock(freeze: true)
    assert m.system.ping.now == Time.at(1_700_000_000) && m.system.ping.now.utc?
    assert m.test.clock(set_at: Time.at(1_800_000_000)).now == Time.at(1_800_000_000)
    assert shop(m).created_at == Time.at(1_800_000_000) && shop(m).to_h["createdAt"] == 1_800_000_000
  end
end

test "lists are read by item and by page" do
  Mintmark.testing(stderr: nil) do |m|
    5.times { shop(m) }
    names = m.pool.list.each.map(&:pool_id)
    first = m.pool.list(limit: 2)
    assert names.size == 5 && first.each.map(&:pool_id) == names.first(2) && first.items.size == 2
    assert first.auto_paging_each.map(&:pool_id) == names && first.each_page.map { |page| page.items.size } == [2, 2, 1]
    assert m.call("pool.list", {limit: 2}).auto_paging_each.to_a.size == 5
    seen = []
    assert first.auto_paging_each { |pool| seen << pool.pool_id } == first && seen == names
    assert first.auto_paging_each.lazy.first.pool_id == names.first
    assert raises(Mintmark::Error) { Marshal.load(Marshal.dump(first)).next_page }.message.include?("has no client")
  end
end

test "the methods test.* require mintmark/testing" do
  library = File.expand_path("../lib/mintmark", __dir__)
  program = 'print Mintmark::Client.method_defined?(:test), Mintmark.respond_to?(:testing), Mintmark.const_defined?(:TestMethods)'
  assert IO.popen([RbConfig.ruby, "-r", library, "-e", program], &:read) == "false" * 3
  program = 'Mintmark.start(store: ":memory:", testing: true, stderr: nil) { |m| print m.call("test.clock")["now"].class }'
  assert IO.popen([RbConfig.ruby, "-r", library, "-e", program], &:read) == "Integer"
end

test "options of the program are keywords, and an unknown keyword raises ArgumentError" do
  Mintmark.testing(stderr: nil, region: "moon-1", max_line_bytes: 3 << 20, audit_issuance: true, drain_seconds: 1) do |m|
    assert m.system.info.region == "moon-1"
    assert raises(Mintmark::APIError) { m.token.verify(token: "x" * (2 << 20), audience: "a") }.type != "invalidRequest"
  end
  message = raises(ArgumentError) { Mintmark.start(store: ":memory:", max_line: 5) }.message
  assert message.include?(":max_line") && message.include?("max_line_bytes"), message
  assert raises(ArgumentError) { Mintmark.start(store: ":memory:", drain_seconds: []) }.message.include?("drain_seconds")
  assert raises(ArgumentError) { Mintmark.start(stroe: "shop.db") }.message.include?(":stroe")
  assert raises(ArgumentError) { Mintmark.start(store: ":memory:", testing: "no") }.message.include?("testing: must be true or false")
end

test "Timeout interrupts a call and the client remains usable" do
  Mintmark.testing(stderr: nil) do |m|
    m.system.ping
    pid = m.instance_variable_get(:@process).pid
    Process.kill(:STOP, pid)
    raises(Timeout::Error) { Timeout.timeout(0.2) { m.system.ping } }
    Process.kill(:CONT, pid)
    assert m.system.ping.now.is_a?(Time)
  end
end

test "a testing method without a testing store raises an error that names the option" do
  Mintmark.start(store: ":memory:", stderr: nil) { |m| assert raises(Mintmark::MethodNotFound) { m.call("test.clock") }.message.include?("testing: true") }
end

test "a forked child starts its own process and releases the pipes of its parent" do
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
    assert m.pool.list.pools.size == 1 && memory.system.ping.now.is_a?(Time), "the parent goes on"
    idle = fork { goes_on.close; IO.select(nil, nil, nil, 60); exit!(0) }
    statuses = [m, memory].map { |each| each.instance_variable_get(:@process).tap { each.close }.instance_variable_get(:@status) }
    assert statuses.all?(&:success?), "a child that makes no call must not keep the pipes open: #{statuses.inspect}"
    goes_on.close
    Process.kill(:KILL, idle)
    assert Process.wait2(child).last.success?
    Process.wait(idle)
  end
end

test "inspect and error messages of a client contain no secrets" do
  Mintmark.testing(stderr: nil, environment: {"MINTMARK_MASTER_KEY" => "5ec1" * 16}) do |m|
    provider = Mintmark::CredentialsProvider.new(m, pool_id: "p", logins: {"login.shop" => "5ec15ec1"}) { nil }
    m.system.ping
    messages = [raises(NoMethodError) { m.pol }, raises(NoMethodError) { m.pool.creat }, raises(NoMethodError) { provider.gett }].map(&:message)
    assert (messages + [m, m.pool, provider].map(&:inspect)).none? { |text| text.include?("5ec15ec1") || text.lines.first.size > 200 }
  end
end

test "progress is typed and arrives before the result, and an error in the callback fails the call" do
  Mintmark.testing(stderr: nil, timeout: 60) do |m|
    accounts = Array.new(450) { |number| {"email" => "user#{number}@example.com"} }
    told = []
    result = m.account.import(accounts: accounts, progress: ->(value) { told << [value, Thread.current] })
    assert result.imported == 450
    assert told.size >= 2 && told.all? { |value, thread| value.is_a?(Mintmark::ImportProgress) && value.next_line && thread == Thread.current }, told.inspect
    assert raises(KeyError) { m.account.import(accounts: accounts, on_existing: "replace", progress: ->(_) { raise KeyError }) }
    assert m.system.ping.now.is_a?(Time)
    assert raises(ArgumentError) { m.system.ping(progress: ->(_) {}) }
    told.clear
    m.audit.verify(progress: ->(value) { told << value })
    Dir.mktmpdir("mintmark-") do |folder|
      m.call("account.export", {"file" => File.join(folder, "accounts.jsonl")}, progress: ->(value) { told << value })
    end
    assert told.map(&:class).uniq - [Mintmark::AuditProgress, Mintmark::ExportProgress] == [], told.inspect
  end
end

test "a backend can return a result, a hash or JSON, and any other value raises TypeError" do
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

test "time limits are positive numbers and can be infinite" do
  Mintmark.testing(stderr: nil, timeout: Float::INFINITY) do |m|
    assert m.system.ping.now.is_a?(Time) && m.system.ping(timeout: 1e300).now.is_a?(Time)
    ["1", 0, -1, Float::NAN].each { |wrong| assert raises(ArgumentError) { m.system.ping(timeout: wrong) }.message.include?(wrong.inspect) }
  end
end

test "close kills a program that never responds after one second" do
  Dir.mktmpdir("mintmark-") do |folder|
    silent = File.join(folder, "silent")
    File.write(silent, "#!/bin/sh\nexec sleep 600\n", perm: 0o755)
    m = Mintmark::Client.new(store: ":memory:", binary: silent, stderr: nil, timeout: 0.05)
    raises(Mintmark::CallTimeout) { m.system.ping }
    status = m.instance_variable_get(:@process)
    m.close(grace: 3600)
    assert status.instance_variable_get(:@status).termsig == 9
  end
end

test "a program that exits without output raises an error with advice" do
  message = raises(Mintmark::ProcessEnded) { Mintmark.testing(binary: "/bin/true", stderr: nil) { |m| m.system.ping } }.message
  assert message.include?("/bin/true") && message.include?("MINTMARK_BINARY"), message
end

# Runs a client with a shell script as its program.
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

test "a call fails with ProcessEnded if the application has already waited for the process" do
  # The background command holds the pipes until the call arrives. The started process itself has already exited and was waited for.
  with_stand_in("exec 3<&0; { read -r info; read -r call; } <&3 &", timeout: 60) do |m, pid|
    Process.wait(pid)
    assert raises(Mintmark::ProcessEnded) { m.system.ping }.message.include?("Process.wait")
  end
end

test "a system.info result without a version number is accepted" do
  ['"hi"', "[1]", "7", '{"version":""}', '{"version":"dev"}', '{"version":5}'].each do |info|
    with_stand_in("read -r info; #{answer(0, info)}; read -r call; #{answer(1, '{"now":1}')}; cat >/dev/null", timeout: 60) do |m|
      assert m.system.ping.now == Time.at(1), info
    end
  end
end

test "a text that is not a version is not below any version" do
  assert(["0.0.9", "0.0", "0.0.9-rc.1"].all? { |version| Mintmark::Wire.below?(version, "0.1.0") })
  assert(["", "dev", "-", "v0", "0.1.0", "0.1.0-rc.1", "0.10", "main 0.0.1"].none? { |version| Mintmark::Wire.below?(version, "0.1.0") })
end

test "close also kills the children of a script" do
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

test "a failing log destination does not affect calls" do
  log = Object.new
  def log.write(_) = raise("the disk is full")
  with_stand_in("read -r info; read -r call; echo one >&2; echo two >&2; exit 74", stderr: log, timeout: 60) do |m|
    assert raises(Mintmark::ProcessEnded) { m.system.ping }.message.include?("one\ntwo")
  end
end

test "responses are UTF-8 regardless of the default encodings of the program" do
  program = 'Mintmark.testing(stderr: nil) { |m| m.pool.create(name: "caf\u00e9") } rescue print $!.violations.first.message.include?("caf\u00e9")'
  ["ISO-8859-1", "ISO-8859-1:ISO-8859-1", "US-ASCII"].each do |encodings|
    said = IO.popen([RbConfig.ruby, "-E", encodings, "-r", File.expand_path("../lib/mintmark/testing", __dir__), "-e", program], &:read)
    assert said == "true", "with #{encodings}: #{said}"
  end
end

test "a provider that was closed before its first use does not open" do
  Mintmark.testing(stderr: nil, timeout: 60) do |m|
    provider = Mintmark::CredentialsProvider.new(m, pool_id: shop(m).pool_id) { nil }
    provider.close
    assert raises(Mintmark::ClientClosed) { provider.get }.message.include?("Create a new one")
    raises(Mintmark::ClientClosed) { provider.set_logins({"login.shop" => "alice"}) }
  end
end

test "closing a provider after a restart of its process succeeds" do
  Mintmark.testing(stderr: nil, timeout: 60, restart: true) do |m|
    provider = Mintmark::CredentialsProvider.new(m, pool_id: shop(m).pool_id, logins: {"login.shop" => "alice"}) { nil }
    raises(TypeError) { provider.get }
    Process.kill(:KILL, m.instance_variable_get(:@process).pid)
    m.instance_variable_get(:@process).failure
    assert provider.close.nil?
    assert raises(Mintmark::ProviderNotOpen) { provider.get }
  end
end

test "a failed start raises the cause and leaves no threads or file descriptors open" do
  held = -> { [Thread.list.size, Dir.children("/proc/self/fd").size] }
  before, deadline = held.call, Process.clock_gettime(Process::CLOCK_MONOTONIC) + 30
  [[5], ["a\0b"]].each do |wrong|
    raises(wrong == [5] ? TypeError : ArgumentError) { Mintmark::Client.new(store: ":memory:", arguments: wrong, stderr: nil, on_notification: ->(*) {}) }
  end
  # A thread stays in the list until it has ended.
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

test "the examples run" do
  # The example of passkeys is a server, which another test opens in a browser.
  Dir[File.join(__dir__, "../examples/*.rb")].reject { |each| each.end_with?("passkeys.rb") }.each do |example|
    said = IO.popen([RbConfig.ruby, "-I", File.expand_path("../lib", __dir__), example], err: %i[child out], &:read)
    assert $?.success? && said.include?("is signed in until"), said
  end
end

test "the gem builds without warnings and contains all required files" do
  Dir.mktmpdir("mintmark-") do |folder|
    made = File.join(folder, "mintmark.gem")
    said = Dir.chdir(File.join(__dir__, "..")) { IO.popen(["gem", "build", "--output", made, "mintmark.gemspec"], err: %i[child out], &:read) }
    assert $?.success? && !said.include?("WARNING"), said
    installed = File.join(folder, "gems")
    assert system("gem", "install", "--local", "--silent", "--no-document", "--install-dir", installed, made, out: File::NULL)
    program = 'require "mintmark/testing"; Mintmark.testing(stderr: nil) { |m| puts m.system.info.testing }'
    assert IO.popen({"GEM_PATH" => installed, "GEM_HOME" => installed}, ["ruby", "-e", program], &:read) == "true\n"
  end
end

require_relative "identity_provider"
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
