# frozen_string_literal: true

Gem::Specification.new do |gem|
  gem.name = "mintmark"
  gem.version = File.read(File.join(__dir__, "lib/mintmark/generated/namespaces.rb"))[/CONTRACT_VERSION = "(.+)"/, 1]
  gem.summary = "Mintmark, the identity service in one process, from Ruby: calls over its pipe."
  gem.authors = ["Mintmark"]
  gem.files = Dir.chdir(__dir__) { Dir["lib/**/*.rb", "sig/**/*.rbs", "README.md"] }
  gem.required_ruby_version = ">= 3.0"
end
