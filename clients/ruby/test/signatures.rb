# frozen_string_literal: true

# Compares ../sig with ../lib. Requires the gem rbs, which is bundled with Ruby; these tests are skipped if it is missing.

# The signatures as parsed by rbs: names and definitions.
class Signatures
  def initialize
    gem "rbs"
    require "rbs"
    loader = RBS::EnvironmentLoader.new
    loader.add(path: Pathname(File.join(__dir__, "../sig")))
    @environment = RBS::Environment.from_loader(loader).resolve_type_names
    @builder = RBS::DefinitionBuilder.new(env: @environment)
  end

  # Yields every class and module with its own instance and singleton methods. Building the definitions also validates them.
  def each
    own(@environment.class_decls).each do |name|
      constant = Object.const_get(name.to_s)
      yield constant, :instance, said(@builder.build_instance(name), name)
      yield constant, :singleton, said(@builder.build_singleton(name), name)
    end
  end

  def constants = own(@environment.constant_decls).map(&:to_s)

  private

  def own(declared) = declared.keys.select { |name| name.to_s.start_with?("::Mintmark") }

  def said(definition, name) = definition.methods.select { |_, method| method.defined_in == name }
end

def keywords_said(types) = types.flat_map { |each| each.type.required_keywords.map { |name, _| [:keyreq, name] } + each.type.optional_keywords.map { |name, _| [:key, name] } }.uniq.sort

def keywords_there(method) = method.parameters.select { |kind, _| %i[keyreq key].include?(kind) }.sort

begin
  gem "rbs"
rescue LoadError
  puts "skipped what the signatures say: there is no gem rbs"
else
  test "every method in the signatures exists and has the declared keywords" do
    Signatures.new.each do |constant, kind, methods|
      methods.each do |name, method|
        is_new = kind == :singleton && name == :new
        next if is_new

        there = kind == :instance ? constant.instance_method(name) : constant.method(name)
        types = method.method_types
        next if types.any? { |each| each.type.rest_keywords }

        said, found = keywords_said(types), keywords_there(there)
        if there.parameters.any? { |kind, _| kind == :keyrest }
          found += (Mintmark::OPTIONS.keys - found.map(&:last)).map { |option| [:key, option] }
          said, found = said.sort, found.sort
        end
        assert said == found, "#{constant} #{name}: the signature has the keywords #{said - found} too many and #{found - said} too few"
      end
    end
    Signatures.new.constants.each { |name| Object.const_get(name) }
  end

  test "every method of the contract and every detail of an error has a signature" do
    said = Hash.new { |all, constant| all[constant] = [] }
    Signatures.new.each { |constant, kind, methods| said[constant] += methods.keys if kind == :instance }
    Mintmark.constants.map { |name| Mintmark.const_get(name) }.grep(Class).each do |constant|
      next unless constant < Mintmark::Namespace || constant < Mintmark::APIError || constant < Mintmark::Record

      assert said.key?(constant), "#{constant} has no signature"
      missing = constant.public_instance_methods(false) - said[constant]
      assert missing.empty?, "#{constant} has no signature of #{missing.join(', ')}"
    end
  end
end
