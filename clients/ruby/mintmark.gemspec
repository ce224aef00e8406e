# frozen_string_literal: true

Gem::Specification.new do |gem|
  # No public repository exists yet: the host is the one of the Go module path, which never resolves.
  home = "https://mintmark.localhost/mintmark"

  gem.name = "mintmark"
  gem.version = File.read(File.join(__dir__, "lib/mintmark/generated/contract.rb"))[/CONTRACT_VERSION = "(.+)"/, 1]
  gem.summary = "The Ruby client of Mintmark, an identity service in one process."
  gem.description = "Starts Mintmark as a child process and calls its methods over a pipe: identity pools, accounts, sign-in, tokens and credentials."
  gem.authors = ["Mintmark"]
  # A copy of this folder without the contract has no license expression.
  service = File.join(__dir__, "../../schemas/service.json")
  gem.license = File.read(service)[/"license": "(.+)"/, 1] if File.exist?(service)
  gem.homepage = home
  gem.metadata = {
    "source_code_uri" => "#{home}/clients/ruby", "changelog_uri" => "#{home}/schemas/CHANGELOG.md",
    "documentation_uri" => "#{home}/clients/ruby/README.md", "rubygems_mfa_required" => "true"
  }
  gem.files = Dir.chdir(__dir__) { Dir["lib/**/*.rb", "sig/**/*.rbs", "examples/*.rb", "README.md"] }
  gem.required_ruby_version = ">= 3.0"
end
