# frozen_string_literal: true

# What clients/conformance does not say of the Ruby client. Ends with "N passed, N failed".
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
